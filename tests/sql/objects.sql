-- making, changing, describing and dropping every kind of object, with the errors on the way
create table a(id serial primary key, x int unique check (x>0), y text default 'k');
create table b(aid int references a(id) on delete cascade, z int generated always as identity);
create view v as select id, y from a;
create index on a(y, lower(y));
\d a
\d b
\d v
\d+ v
drop table a;
drop sequence a_id_seq;
alter table a drop column id;
drop index a_pkey;
drop view a; drop table v; drop index a; drop sequence a;
drop table a cascade;
create table a(x int primary key, y text, z int default 5); create table b2(x int references a);
truncate a;
create index foo on a using nosuch (x);
create index i1 on a(y text_pattern_ops desc nulls last) where z>3;
create index i1 on a(x); create index if not exists i1 on a(x);
create index on a(lower(y), z) include (x);
create unique index on a((x+1));
create index on a((random()));
create index foo on v(x);
\d a
\d a_lower_z_x_idx
select attname, attnum from pg_attribute where attrelid='a_lower_z_x_idx'::regclass order by 2;
truncate table a restart identity cascade;
create sequence s; create sequence s; create sequence if not exists s; create sequence s2 increment 0; create sequence s3 minvalue 10 maxvalue 5; create sequence s3 start 0;
\d s
select nextval('s'), nextval('s'), currval('s'), lastval();
select setval('s', 10), nextval('s');
alter sequence s restart with 5 increment 2; select nextval('s'), nextval('s');
alter sequence nope restart; alter sequence if exists nope restart; alter sequence s owned by a.x; alter sequence s owned by a.nope;
create sequence lim maxvalue 2; select nextval('lim'); select nextval('lim'); select nextval('lim');
create schema public; create schema if not exists public; create schema pg_foo;
create view vv as select 1; create or replace view vv as select 1 as q; create view v3(a,b) as select 1; create view v3(a,b) as select 1 x,2 y;
\d+ v3
comment on table a is 'hey'; comment on column a.x is 'c'; comment on column a.nope is 'c'; comment on table nope is 'x';
\d+ a
\dt+ a
alter table a add column w numeric(6,2) not null default 1.5;
insert into a values (1,'one',2), (2,'two',4);
alter table a add column k int default 3, add column sn serial;
select * from a order by x;
alter table a alter column k type text using 'v' || k;
alter table a alter column z type bigint;
alter table a alter column y type int;
alter table a alter y set default 'dd', alter z drop default;
alter table a alter column z set not null; alter table a alter column x drop not null;
alter table a rename column y to yy; alter table a rename to aa;
\d aa
alter table aa add constraint zc check (z > 100); alter table aa add constraint zc check (z > 0); alter table aa add constraint zc check (z > 0);
alter table aa drop constraint nope; alter table aa drop constraint if exists nope; alter table aa drop constraint zc;
alter table aa add unique (yy, z); alter table aa add foreign key (z) references aa(x); alter table aa add foreign key (nope) references aa;
alter table aa drop column k; alter table aa drop column if exists k; alter table aa drop column k;
select * from aa order by x;
alter table aa set (fillfactor=70); alter table aa set (fillfactor=700); alter table aa reset (fillfactor);
create table lk (like aa including all);
\d lk
create table ctas as select x, yy from aa; select * from ctas order by 1; select x into ctas2 from aa; \d ctas2
create table c(a int, a int);
create table c(a int primary key, b int primary key);
create table c(a int references nope);
create table c(a nosuchtype);
create table c(a int, constraint foo check (b > 1));
create table c(a int default a);
create table c(a int null not null);
create table c(a int, primary key (zz));
create table c(a int, foreign key (a) references aa(yy));
create table c(a int) with (fillfactor=1);
create table c(a int) with (nosuch=1);
create table gen(a int, b int generated always as (a*2) stored); insert into gen(a) values (4); select * from gen; \d gen
create temp table tt(a int); insert into tt values (1); select * from tt; drop table tt;
create role r1; create role r1; create user u1 createdb; \du
grant select on aa to r1; grant select (x) on ctas to r1; grant all on schema public to r1; \dp aa
\dp ctas
revoke select on aa from r1; \dp aa
drop role r1; drop role nosuch; drop role if exists nosuch;
set role u1; select * from aa; create table nope(a int); drop table aa; reset role;
select has_table_privilege('u1','aa','select'), has_table_privilege('aa','select');
create database d1; create database d1; drop database d1; drop database d1; drop database if exists d1;
\dn
\ds
\di
\dv
vacuum aa; analyze aa; select relpages, reltuples from pg_class where relname='aa';
begin; create table txt(a int); insert into txt values (1); rollback; select * from txt;
begin; create table txt(a int); savepoint s; alter table txt add column b int; rollback to s; \d txt
commit; \d txt
copy aa(x,yy,z) from stdin;
10	ten	1
11	\N	2
\.
copy aa(x,yy,z) from stdin;
12	ten
\.
copy aa(x,yy,z) from stdin;
abc	ten	1
\.
copy (select x, yy from aa order by x) to stdout with csv header;
select pg_get_constraintdef(oid) from pg_constraint where conrelid='aa'::regclass order by conname;
select pg_get_viewdef('v3'::regclass), pg_get_viewdef('v3'::regclass, true);
select 'aa'::regclass, 'pg_class'::regclass::oid, to_regclass('nope'), 'int4'::regtype, 'nope'::regclass;
select * from information_schema.columns where table_name='aa' order by ordinal_position;
select * from pg_tables where tablename='aa'; select * from pg_indexes where tablename='aa' order by 3;
reindex table aa; reindex index aa_pkey;
create schema sx; alter table aa set schema sx; \d sx.aa
alter schema sx rename to sy; \d sy.aa
drop schema sy cascade;
