SELECT 1
SELECT 'a', NULL, 1.5, true, 10000000000
SELECT abalance FROM pgbench_accounts WHERE aid = 5
UPDATE pgbench_accounts SET abalance = abalance + -450 WHERE aid = 12
UPDATE pgbench_tellers SET tbalance = tbalance + 3 WHERE tid = 2
INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (1, 1, 1, 1, CURRENT_TIMESTAMP)
insert into pgbench_branches(bid,bbalance) values(1,0)
select count(*) from pgbench_branches
SELECT * FROM t
SELECT t.* FROM t
SELECT t FROM t
SELECT a, b AS x FROM t WHERE a > 1 AND b = 'x' OR NOT f
SELECT a + 1, -a, a * 2 - 3, a % 2, a / 2.0 FROM t
SELECT a - (a - 1) - 1, (a + 1) * 2, a + 1 * 2 FROM t
SELECT a::text, b::integer, c::int, '5'::int, 'x'::varchar(3), 1.5::numeric(5,1) FROM t
SELECT CAST(a AS bigint), int4 '5', date '2020-01-01', interval '1 day' FROM t
SELECT b || 'x', b || a, a || b, 'a' || 'b' FROM t
SELECT length(b), upper(b), substring(b from 1 for 2), position('a' in b), trim(b), coalesce(b, 'x') FROM t
SELECT trim(both 'x' from b), ltrim(b), overlay(b placing 'x' from 2), extract(year from d), d at time zone 'UTC' FROM t
SELECT CASE WHEN a = 1 THEN 'one' WHEN a = 2 THEN 'two' ELSE 'many' END FROM t
SELECT CASE a WHEN 1 THEN 1.5 ELSE 2 END AS c FROM t
SELECT a IN (1, 2, 3), a NOT IN (1, 2), b IN ('x'), a IN (1, a) FROM t
SELECT a BETWEEN 1 AND 2, a NOT BETWEEN 1 AND 2, a BETWEEN SYMMETRIC 2 AND 1 FROM t
SELECT b LIKE 'a%', b NOT LIKE 'a%', b ILIKE 'A%', b SIMILAR TO 'a', b ~ 'x', b LIKE 'a' ESCAPE '!' FROM t
SELECT a IS NULL, a IS NOT NULL, f IS TRUE, f IS NOT FALSE, f IS UNKNOWN FROM t
SELECT a IS DISTINCT FROM 1, a IS NOT DISTINCT FROM 1, a IS DISTINCT FROM NULL, NULLIF(a, 1) FROM t
SELECT e[1], e[1:2], e[:2], ARRAY[1,2], ARRAY[1,2.5], ARRAY['a','b'], ARRAY[[1,2],[3,4]], '{1,2}'::int[] FROM t
SELECT a = ANY (e), a <> ALL (ARRAY[1,2]), 5 = ANY ('{1,2}') FROM t
SELECT ROW(a, b), (a, b) = (1, 'x'), (a, b) < (1, 'x'), ROW(1) FROM t
SELECT greatest(a, 2), least(1.5, a), coalesce(NULL, a) FROM t
SELECT current_date, current_timestamp, current_user, localtime, current_timestamp(3), current_schema
SELECT (SELECT max(a) FROM t), EXISTS (SELECT 1 FROM u), ARRAY(SELECT a FROM t)
SELECT a FROM t WHERE a IN (SELECT a FROM u) AND a > ALL (SELECT x FROM u) AND b = ANY (SELECT y FROM u)
SELECT a FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.a = t.a)
SELECT a FROM t WHERE (a, b) IN (SELECT a, y FROM u)
SELECT a FROM t WHERE (a, b) = (SELECT a, y FROM u)
SELECT * FROM t, u WHERE t.a = u.a
SELECT t.a, u.x FROM t JOIN u ON t.a = u.a LEFT JOIN s ON s.a = u.a
SELECT * FROM t JOIN u USING (a)
SELECT a FROM t FULL JOIN u USING (a)
SELECT * FROM t NATURAL JOIN u
SELECT j.a FROM (t JOIN u USING (a)) j
SELECT * FROM t CROSS JOIN u
SELECT x.a FROM t x, t y WHERE x.a = y.a
SELECT a FROM t RIGHT JOIN u USING (a)
SELECT q.n FROM (SELECT a AS n FROM t) q WHERE q.n > 1
SELECT * FROM (SELECT a, b FROM t) AS q (m, n)
SELECT * FROM t, LATERAL (SELECT x FROM u WHERE u.a = t.a) l
SELECT * FROM generate_series(1, 3)
SELECT * FROM generate_series(1, 3) AS g(i), generate_series(1, g.i) h
SELECT * FROM unnest(ARRAY[1,2], ARRAY['a','b']) AS n(p, q)
SELECT * FROM ROWS FROM (generate_series(1,2), generate_series(1,3)) WITH ORDINALITY AS r(a, b, o)
SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS v(n, s)
VALUES (1, 'a'), (2, 'b')
VALUES (1, 2.5), (3, NULL)
SELECT generate_series(1, a) FROM t
SELECT count(*), sum(a), avg(c), min(b), max(d), count(DISTINCT b) FROM t
SELECT b, count(*) FROM t GROUP BY b HAVING count(*) > 1 ORDER BY 2 DESC, b
SELECT b AS k, sum(a) FROM t GROUP BY k ORDER BY k NULLS FIRST
SELECT a, b FROM t GROUP BY a
SELECT a + 1, count(*) FROM t GROUP BY a + 1
SELECT string_agg(b, ',' ORDER BY a DESC), array_agg(a) FILTER (WHERE f) FROM t
SELECT DISTINCT b FROM t ORDER BY b
SELECT DISTINCT ON (b) b, a FROM t ORDER BY b, a DESC
SELECT a FROM t ORDER BY b, c DESC NULLS LAST LIMIT 10 OFFSET 5
SELECT a FROM t ORDER BY a FETCH FIRST 3 ROWS WITH TIES
SELECT a, row_number() OVER (PARTITION BY b ORDER BY a), sum(a) OVER w FROM t WINDOW w AS (ORDER BY a ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)
SELECT rank() OVER (ORDER BY a DESC), lag(a, 1, 0) OVER (ORDER BY a) FROM t
SELECT a FROM t UNION SELECT a FROM u
SELECT a, b FROM t UNION ALL SELECT a, y FROM u ORDER BY 1 LIMIT 3
SELECT a FROM t INTERSECT SELECT a FROM u EXCEPT SELECT a FROM s
SELECT 1 UNION SELECT 2.5
SELECT 'a' UNION SELECT b FROM t
(SELECT a FROM t ORDER BY a LIMIT 1) UNION ALL (SELECT a FROM u)
WITH c AS (SELECT a FROM t) SELECT * FROM c, c d
WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT n FROM r
WITH c AS MATERIALIZED (SELECT 1 AS one) SELECT one FROM c
SELECT a FROM t WHERE b COLLATE "C" < 'x'
SELECT "Weird Name", "select" FROM s
SELECT ctid, xmin, tableoid::regclass FROM t
SELECT a FROM tv WHERE bee = 'x'
SELECT v.* FROM tv v
SELECT a FROM t FOR UPDATE
SELECT t.a FROM t, u FOR SHARE OF t NOWAIT
SELECT now() - d, d + interval '1 day', z - z, z + 1 FROM t, u
SELECT y = 'x', w = 'x', v > 1, x + a FROM u
SELECT format('%s', a), concat(a, b, 'c'), to_char(d, 'YYYY') FROM t
SELECT a AS "Quoted", b AS value FROM t
SELECT f AND (a > 1 OR a < 0) AND NOT (f OR a = 3) FROM t
SELECT count(*) FROM t WHERE a > (SELECT avg(x) FROM u WHERE u.a = t.a)
SELECT round(c, 1), abs(a), mod(a, 2), power(a, 2), random() FROM t
SELECT '2020-01-01'::date + 1, '1 day'::interval, 'now'::text
SELECT a FROM t WHERE b = 'it''s' AND b <> E'back\\slash'
SELECT pg_catalog.lower(b), t.a, public.t.b FROM t
SELECT ARRAY[]::int[], NULL::text, '-5'::int, -5, -1.5
SELECT (ROW(1,2)).f1, (t).a, (t.*).b FROM t
SELECT x::int4, y::text, w::varchar, v::numeric(8,2) FROM u
SELECT z::timestamp, (z + 1)::text FROM u
SELECT nullif(b, '') IS NULL FROM t
SELECT 1 FROM t HAVING true
SELECT nosuch FROM t
SELECT t.nosuch FROM t
SELECT bb FROM t
SELECT t.aa, 1 FROM t
SELECT x.a FROM t
SELECT t.a FROM t x
SELECT a FROM t, u
SELECT * FROM nosuch
SELECT * FROM other.nosuch
SELECT * FROM nosch.nosuch
SELECT nosuch(1)
SELECT lower(1, 2)
SELECT lower(a) FROM t
SELECT sum(b) FROM t
SELECT a + b FROM t
SELECT b + 1 FROM t
SELECT 'x' + 1
SELECT - b FROM t
SELECT a = f FROM t
SELECT 'abc'::integer
SELECT '1.2.3'::numeric
SELECT a FROM t WHERE b
SELECT a FROM t WHERE a
SELECT a FROM t HAVING a > 1
SELECT b, count(*) FROM t
SELECT b, a FROM u GROUP BY b
SELECT a, x FROM u GROUP BY a
SELECT a FROM t WHERE count(*) > 1
SELECT count(count(*)) FROM t
SELECT sum(a) FROM t GROUP BY sum(a)
SELECT a FROM t ORDER BY 5
SELECT a FROM t ORDER BY 'x'
SELECT a, b AS a FROM t ORDER BY a
SELECT DISTINCT a FROM t ORDER BY b
SELECT DISTINCT ON (a) a, b FROM t ORDER BY b
SELECT a FROM t LIMIT b
SELECT a FROM t LIMIT 'x'
SELECT 1 UNION SELECT 'x'
SELECT 1 UNION SELECT f FROM t
SELECT 1, 2 UNION SELECT 1
SELECT a FROM t UNION SELECT a FROM u ORDER BY a + 1
SELECT CASE WHEN 1 THEN 2 END
SELECT CASE WHEN f THEN 1 ELSE b END FROM t
SELECT (SELECT a, b FROM t)
SELECT a IN (SELECT a, b FROM t) FROM t
SELECT * FROM (SELECT 1) a, (SELECT 2) a
SELECT *
SELECT $1
SELECT 1::nosuchtype
SELECT a::date FROM t
SELECT f::timestamp FROM t
SELECT generate_series(1,2) FROM t WHERE generate_series(1,2) > 1
SELECT row_number() FROM t
SELECT a FROM t WHERE row_number() OVER () > 1
SELECT count(*) OVER nowin FROM t
SELECT count()
SELECT sum(*) FROM t
SELECT abs(DISTINCT a) FROM t
SELECT ARRAY[]
SELECT ARRAY[1, 'x']
SELECT a[1] FROM t
SELECT b COLLATE "nosuch" FROM t
SELECT a COLLATE "C" FROM t
SELECT b COLLATE "C" < b COLLATE "POSIX" FROM t
SELECT * FROM t JOIN u USING (b)
SELECT * FROM t JOIN u ON t.a
SELECT * FROM t JOIN u ON s.a = 1
SELECT (a, b) = (1) FROM t
SELECT ROW(1,2) = ROW(1,2,3)
SELECT a FROM t FOR UPDATE OF u
SELECT DISTINCT a FROM t FOR UPDATE
SELECT count(*) FROM t FOR UPDATE
SELECT a FROM t UNION SELECT a FROM u FOR UPDATE
WITH c AS (SELECT 1), c AS (SELECT 2) SELECT 1
WITH r AS (SELECT * FROM r) SELECT * FROM r
WITH RECURSIVE r AS (SELECT 1 FROM r) SELECT * FROM r
VALUES (1), (1, 2)
SELECT t.a.b FROM t
SELECT a.b FROM t
SELECT * FROM lower('x') AS (a int)
SELECT (1).x
SELECT (t).nosuch FROM t
SELECT extract(year from 'x')
SELECT 1 AS x FROM t GROUP BY nosuch
INSERT INTO t VALUES (1, 'x', 2, now())
INSERT INTO t (a, b) VALUES (1, 'x'), (2, DEFAULT)
INSERT INTO t (a, b) SELECT a, y FROM u
INSERT INTO t DEFAULT VALUES
INSERT INTO t (a) VALUES (1) RETURNING a, b AS bee, *
INSERT INTO t (a) VALUES (1) ON CONFLICT DO NOTHING
INSERT INTO t (a, b) VALUES (1, 'x') ON CONFLICT (a) DO UPDATE SET b = excluded.b || t.b WHERE t.a > 0
INSERT INTO u (a, x) VALUES (1, 2) ON CONFLICT (a) WHERE x > 0 DO NOTHING
INSERT INTO u (y) VALUES ('x') ON CONFLICT (lower(y)) DO NOTHING
INSERT INTO t VALUES (1, 2, 3, 4, 5, 6, 7)
INSERT INTO t (a, b) VALUES (1)
INSERT INTO t (a) VALUES (1, 2)
INSERT INTO t (a, a) VALUES (1, 2)
INSERT INTO t (nosuch) VALUES (1)
INSERT INTO t (ctid) VALUES (1)
INSERT INTO t (a) VALUES ('x')
INSERT INTO t (a) VALUES (now())
INSERT INTO t (f) SELECT 1
INSERT INTO t (a) VALUES (b)
INSERT INTO t (a) VALUES (1) ON CONFLICT DO UPDATE SET a = 1
INSERT INTO t (a) VALUES (1) ON CONFLICT ON CONSTRAINT nosuch DO NOTHING
INSERT INTO g (id) VALUES (1)
INSERT INTO g (twice) VALUES (1)
INSERT INTO g (id, n) OVERRIDING SYSTEM VALUE VALUES (1, 2)
INSERT INTO nosuch VALUES (1)
UPDATE t SET b = 'x', c = DEFAULT WHERE a = 1 RETURNING *
UPDATE t SET (b, c) = ('x', 1)
UPDATE t SET (b, c) = (SELECT y, v FROM u)
UPDATE t SET b = u.y FROM u WHERE u.a = t.a
UPDATE t x SET b = x.b
UPDATE t SET e[1] = 5
UPDATE t SET nosuch = 1
UPDATE t SET a = 'x'
UPDATE t SET a = b
UPDATE t SET b = 1, b = 2
UPDATE t SET a = sum(a)
UPDATE g SET twice = 1
UPDATE g SET id = 1
DELETE FROM t
DELETE FROM t USING u WHERE t.a = u.a RETURNING t.a
DELETE FROM t WHERE nosuch = 1
DELETE FROM nosuch
WITH d AS (DELETE FROM t RETURNING a) SELECT * FROM d
SELECT a FROM t WHERE a = 1 AND
SELEC 1
SELECT 'unterminated
SELECT c.oid, n.nspname, c.relname FROM t c, u n, s relname
SELECT t.a FROM t WHERE t.a = (SELECT max(u.a) FROM u WHERE u.y = t.b HAVING count(*) > 1)
SELECT sum(t.a) FROM t GROUP BY t.f HAVING sum(t.a) > (SELECT count(*) FROM u WHERE u.a = sum(t.a))
SELECT u.a FROM u GROUP BY u.a ORDER BY (SELECT max(t.a) FROM t WHERE t.a = u.x)
SELECT * FROM t LEFT JOIN LATERAL (SELECT * FROM u WHERE u.a = t.a) l ON true
SELECT * FROM t RIGHT JOIN LATERAL (SELECT * FROM u WHERE u.a = t.a) l ON true
SELECT * FROM t, (SELECT * FROM u WHERE u.a = t.a) l
SELECT a, count(*) OVER (PARTITION BY f ORDER BY a RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) FROM t
SELECT sum(sum(a)) OVER (ORDER BY b) FROM t GROUP BY b
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY v) FROM u
SELECT max(a) FILTER (WHERE b = 'x') FROM t
SELECT b FROM t WHERE b = any (array['a', 'b']) OR c in (1, 2.5) OR d > '2020-01-01'
SELECT d::date, d + '1 hour', age(d), date_trunc('day', d), d - '2020-01-01' FROM t
SELECT x / 2, x::float8 / 3, v * 2, c * 1.5, a::int8 + x FROM t JOIN u USING (a)
SELECT y || w, y LIKE 'x', upper(y), w = 'ab' FROM u
SELECT coalesce(y, 'none'), nullif(w, 'x'), CASE y WHEN 'a' THEN w END FROM u
SELECT string_to_array('a,b', ','), array_length(e, 1), array_append(e, 5), e || 3, e || e FROM t
SELECT 1 WHERE EXISTS (SELECT FROM t)
SELECT t.*, u.a AS ua FROM t JOIN u ON t.a = u.a AND u.x > 5 WHERE u.y IS NOT NULL
SELECT not f, not (f and a > 1), f = true FROM t
SELECT a FROM (SELECT a, row_number() OVER (ORDER BY a) AS rn FROM t) q WHERE rn <= 3
SELECT (SELECT b FROM t WHERE t.a = u.a LIMIT 1) AS bb FROM u
SELECT array(SELECT generate_series(1, 3)) AS arr
WITH a AS (SELECT 1 AS n), b AS (SELECT n + 1 AS m FROM a) SELECT * FROM a, b
SELECT q.* FROM (WITH z AS (SELECT a FROM t) SELECT * FROM z) q
SELECT a FROM t ORDER BY a USING >
SELECT a FROM t ORDER BY a USING ~
SELECT x FROM (SELECT a AS x FROM t UNION ALL SELECT a FROM u) q ORDER BY x
SELECT a::char, a::bpchar, a::varchar(5), b::char(3), c::numeric, c::numeric(4) FROM t
SELECT interval '3' day, '1'::interval year, timestamp '2020-01-01 00:00' - interval '1 hour'
SELECT 'x' = 'y', 'x' < 'y' OR NULL, NULL = NULL, NULL + 1
SELECT '{}'::int[] = ARRAY[1], ARRAY[1] || NULL, '{a}'::text[]
SELECT a FROM t WHERE a = 1 OR a = 2 OR (b = 'x' AND c = 1)
SELECT ((a)) FROM t WHERE (((a > 1)))
SELECT -(-a), - (a + 1), +a, @ a, |/ v FROM t JOIN u USING (a)
SELECT * FROM tv JOIN t USING (a)
SELECT tv.a, t.a FROM tv, t
SELECT a, nosuch FROM tv
SELECT lower(b) AS lower FROM t GROUP BY lower(b) ORDER BY lower
SELECT a % 2 = 0 AS even, count(*) FROM t GROUP BY even
SELECT max(a), min(a) FROM t WHERE a BETWEEN 1 AND 10 HAVING max(a) > 5
SELECT current_catalog, session_user, user, current_role, localtimestamp(0)
SELECT pg_typeof(a), pg_typeof('x'), version() FROM t
SELECT 1 = ANY (SELECT a FROM t), 1 <> ALL (SELECT a FROM t), 1 NOT IN (SELECT a FROM t)
SELECT ROW(t.*), ROW(1, 'a', NULL) FROM t
SELECT (t.*) IS NULL, t IS NOT NULL, ROW(1) IS NULL FROM t
SELECT greatest('a', b), least(a, 'x') FROM t
SELECT extract(epoch from d), date_part('year', d), extract('dow' from z) FROM t, u
SELECT to_char(a, '999'), to_number('1', '9'), to_date('2020', 'YYYY') FROM t
SELECT overlay('abc' placing 'x' from 2 for 1), substring('abc' from 'b'), substring('abc', 2)
SELECT count(DISTINCT a), sum(DISTINCT a), count(ALL a) FROM t
SELECT string_agg(DISTINCT b, ',' ORDER BY a) FROM t
SELECT array_agg(a ORDER BY b), array_agg(DISTINCT b ORDER BY b DESC) FROM t
SELECT generate_series(1, 2), generate_series(1, 3)
SELECT coalesce(generate_series(1, 2), 1)
SELECT abs(generate_series(1, 2))
SELECT * FROM abs(generate_series(1, 2))
SELECT sum(generate_series(1, 2))
SELECT lag(a) FROM t
SELECT count(*) FILTER (WHERE count(*) > 1) FROM t
SELECT rank() OVER (ORDER BY rank() OVER ()) FROM t
SELECT count(DISTINCT a) OVER () FROM t
SELECT a FROM t WINDOW w AS (ORDER BY a), w AS (ORDER BY b)
SELECT sum(a) OVER (w PARTITION BY b) FROM t WINDOW w AS (ORDER BY a)
SELECT a FROM t FETCH FIRST 1 ROW WITH TIES
SELECT a FROM t OFFSET 'x'
SELECT a FROM t LIMIT sum(a)
SELECT a FROM t GROUP BY 2
SELECT a FROM t GROUP BY 'x'
SELECT a, b FROM t ORDER BY t.c, nosuch
SELECT unknown_func(a) FROM t
SELECT t.lower FROM t
SELECT a.b.c.d.e FROM t
SELECT nosuchdb.public.t.a FROM t
SELECT * FROM nosuchdb.public.t
SELECT public.t.a FROM t x
SELECT public.x.a FROM t x
SELECT weird FROM s
SELECT "Weird" FROM s
SELECT abalanc FROM pgbench_accounts
SELECT pgbench_account.abalance FROM pgbench_accounts
SELECT bid FROM pgbench_accounts, pgbench_tellers
SELECT * FROM pgbench_accounts a JOIN pgbench_accounts b ON a.aid = b.aid JOIN pgbench_branches USING (bid)
SELECT t.a FROM t JOIN u USING (a, a)
SELECT 1 FROM t JOIN t ON true
SELECT f.x FROM generate_series(1, 2) AS f(a, b)
SELECT * FROM (SELECT 1, 2) AS q(a, b, c)
WITH c(a, b) AS (SELECT 1) SELECT * FROM c
SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 'x'::text
SELECT NULL UNION SELECT 1
SELECT a FROM t UNION SELECT b FROM t
SELECT a FROM t EXCEPT ALL SELECT a FROM u ORDER BY nosuch
VALUES (1, 'a'), ('x', 'b')
SELECT CASE a WHEN 'x' THEN 1 END FROM t
SELECT 5 BETWEEN 'a' AND 10
SELECT a IN ('x') FROM t
SELECT a IN () FROM t
SELECT a = ANY (1) FROM t
SELECT ARRAY[1] = ANY (1)
SELECT '1 day'::interval * 'x'
SELECT date '2020-13-01'
SELECT 'yes'::boolean, 'maybe'::boolean
SELECT 99999999999999999999::bigint, '99999999999'::int
SELECT 1.5::nosuch(3)
SELECT 1::int4(3)
SELECT 'x'::varchar(0)
SELECT numeric(2000, 1) '5'
INSERT INTO u (y, w) VALUES ('toolongforthis', 'x')
INSERT INTO t (e) VALUES (ARRAY[1,2]), ('{3,4}')
INSERT INTO t (e[1], e[2]) VALUES (1, 2)
INSERT INTO t SELECT * FROM t
INSERT INTO t (a, b) SELECT 1, 2
INSERT INTO t (a) (SELECT a FROM u UNION SELECT 5)
INSERT INTO t (a, b) VALUES (1, (SELECT max(y) FROM u)), (2, 'q')
WITH src AS (SELECT 1 AS n) INSERT INTO t (a) SELECT n FROM src RETURNING a
INSERT INTO t AS x (a) VALUES (1) ON CONFLICT (a) DO UPDATE SET (b, c) = (excluded.b, x.c + 1) RETURNING x.a
INSERT INTO t (a) VALUES (1) RETURNING nosuch
INSERT INTO t (a) VALUES (1) RETURNING sum(a)
INSERT INTO g (n) VALUES (1), (2)
INSERT INTO g VALUES (DEFAULT, 1, DEFAULT, 2)
INSERT INTO t VALUES ((1, 2, 3))
INSERT INTO t (a, b, c) VALUES ((1, 2, 3))
UPDATE t SET (a, b) = (1)
UPDATE t SET (a, b) = ROW(1, 2, 3)
UPDATE t SET a = a + 1 FROM t y WHERE t.a = y.a
UPDATE t SET b = DEFAULT, f = DEFAULT
UPDATE t SET t.b = 1
UPDATE nosuch SET a = 1
UPDATE t SET a = x.a FROM (SELECT a FROM u) x RETURNING t.*, x.a
UPDATE t SET a = 1 WHERE sum(a) > 1
DELETE FROM t x WHERE x.a IN (SELECT a FROM u)
DELETE FROM t x WHERE t.a = 1
DELETE FROM t USING t WHERE true
DELETE FROM t WHERE a
WITH x AS (UPDATE t SET a = 1) SELECT * FROM x
SELECT * FROM (DELETE FROM t RETURNING a) q
SELECT a FROM t FOR UPDATE OF nosuch
SELECT a FROM t FOR UPDATE OF public.t
SELECT a FROM t, generate_series(1, 2) g FOR UPDATE OF g
SELECT * FROM (SELECT DISTINCT a FROM t) q FOR UPDATE
SELECT a FROM t GROUP BY a FOR SHARE
SELECT a FROM t FOR UPDATE SKIP LOCKED
SELECT a INTO newt FROM t UNION SELECT 1
SELECT array_agg(x) FROM (VALUES (1), (2)) v(x)
SELECT count(*) AS "Total" FROM t HAVING count(*) > 0
SELECT b COLLATE "C" AS bc FROM t ORDER BY bc COLLATE "C"
SELECT min(b COLLATE "C"), b || 'x' COLLATE "C" FROM t GROUP BY b
SELECT a FROM t ORDER BY b COLLATE "POSIX" DESC, a
SELECT regexp_replace(b, 'a', 'b'), b !~ 'x', b !~* 'x', position('x' in b) + 1 FROM t
SELECT a #- 'x' FROM t
SELECT 'abc' ~~~ 'x'
SELECT OPERATOR(pg_catalog.-) a, 1 OPERATOR(pg_catalog.+) 2 FROM t
SELECT nosuch.f(1)
SELECT 1 OPERATOR(nosuch.+) 2
SELECT current_date - 1, current_timestamp - interval '1 day', now()::date
SELECT $2
SELECT 'éé', nosuch FROM t
SELECT 'éé' FROM t WHERE AND
SELECT a AS "Größe" FROM t
INSERT INTO pgbench_accounts(aid,bid,abalance,filler) VALUES (1,1,0,'')
SELECT a FROM t WHERE a = ANY ('{1,2}'::int[]) ORDER BY a DESC NULLS LAST
SELECT c.relname, a.attnum FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid WHERE a.attnum = ANY (SELECT 1)
SELECT i.indkey[0], i.indkey::int2[], array_length(i.indkey, 1) FROM pg_index i
EXPLAIN SELECT nosuch FROM t
CREATE TABLE x AS SELECT nosuch FROM t
