create table c (a int, b text, d date);
copy c from stdin;
1	one	2024-01-02
2	\N	2024-02-03
3	tab\there	\N
\.
select * from c order by a;
copy c to stdout;
copy c (b, a) to stdout with (format csv, header);
copy (select a * 10 from c order by a) to stdout;
copy c from stdin with (format csv);
4,"quo""ted",2024-05-06
5,,
\.
select * from c order by a;
copy c from stdin;
x	bad	\N
\.
copy c from stdin;
7	missing
\.
copy nowhere from stdin;
select count(*) from c;
