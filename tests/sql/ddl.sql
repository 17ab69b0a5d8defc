-- tables, indexes, views, sequences, schemas and psql's descriptions of them
create table a (id int primary key, t text default 'x', v varchar(10), n numeric(8,2), ts timestamp);
create index a_t on a (t);
create unique index a_v on a (v desc nulls last);
\d a
create view w as select id, t from a where id > 1;
\d w
create sequence s start 5 increment 2;
\d s
select nextval('s'), nextval('s'), currval('s');
select setval('s', 100);
select nextval('s');
\dt
\di
\dv
\ds
alter table a add column extra int default 3 not null;
alter table a drop column n;
alter table a rename column t to title;
alter table a alter column v set default 'v';
\d a
insert into a (id) values (1), (2), (3);
select * from a order by id;
select * from w;
create schema sc;
create table sc.b (x int);
set search_path to sc, public;
insert into b values (1);
select * from b;
\dn
drop schema sc;
drop schema sc cascade;
drop view w;
drop table a;
drop table a;
drop table if exists a;
create table dup (a int, a int);
create table bad (a nosuchtype);
create table c1 (a int);
create table c1 (a int);
create table if not exists c1 (a int);
