-- Functions that only a session can answer.
SELECT set_config('work_mem', '8MB', false), current_setting('work_mem'), current_setting('nothing', true);
SELECT current_setting('nothing');
SELECT set_config('my.own', 'x', true), current_setting('my.own');
SELECT current_setting('my.own');
SELECT name, setting, unit, context, vartype, source, min_val, max_val, boot_val, reset_val FROM pg_settings
  WHERE name IN ('work_mem', 'enable_seqscan', 'bytea_output') ORDER BY 1;
SELECT enumvals FROM pg_settings WHERE name = 'bytea_output';
SELECT pg_settings_get_flags('work_mem'), pg_settings_get_flags('nothing');
SELECT pg_is_in_recovery(), pg_postmaster_start_time() < now(), pg_conf_load_time() <= now(), pg_backend_pid() > 0;
SELECT pg_cancel_backend(1), pg_terminate_backend(99999999);
SELECT pg_terminate_backend(1, -1);
SELECT pg_cancel_backend(pg_backend_pid());
SELECT state, query, datname, usename, backend_type FROM pg_stat_activity WHERE pid = pg_backend_pid();
SELECT backend_type FROM pg_stat_activity WHERE backend_type IN ('checkpointer', 'walwriter', 'background writer') ORDER BY 1;
SELECT count(*) FROM pg_stat_get_activity(pg_backend_pid());
SELECT pg_sleep(0.01), pg_sleep_for('10 ms'), pg_sleep_until(now() + interval '5 ms');
SELECT inet_client_addr(), inet_client_port(), current_query();
-- Advisory locks
SELECT pg_advisory_lock(1), pg_try_advisory_lock(1), pg_advisory_unlock(1), pg_advisory_unlock(1), pg_advisory_unlock(1);
SELECT pg_advisory_lock(1, 2), pg_advisory_lock_shared(3), pg_advisory_xact_lock(9);
SELECT locktype, classid, objid, objsubid, mode, granted FROM pg_locks WHERE locktype = 'advisory' ORDER BY 2, 3, 4;
SELECT locktype, relation::regclass, mode, granted, fastpath FROM pg_locks WHERE relation = 'pg_locks'::regclass;
SELECT pg_advisory_unlock_all();
SELECT count(*) FROM pg_locks WHERE locktype = 'advisory';
SELECT pg_blocking_pids(pg_backend_pid());
-- Transactions and the log
BEGIN;
SELECT pg_current_xact_id_if_assigned() IS NULL;
SELECT pg_current_xact_id() = txid_current()::text::xid8, pg_xact_status(pg_current_xact_id()), age(pg_current_xact_id()::xid);
COMMIT;
SELECT pg_xact_status('100000000'::xid8);
SELECT pg_current_wal_lsn() > '0/0', pg_current_wal_flush_lsn() <= pg_current_wal_insert_lsn();
SELECT pg_walfile_name('0/1000001'), pg_walfile_name('1/0');
SELECT pg_promote();
-- Statements, cursors, keywords, zones
PREPARE p(int, text) AS SELECT $1, $2;
SELECT name, parameter_types, from_sql FROM pg_prepared_statements;
BEGIN;
DECLARE c SCROLL CURSOR WITH HOLD FOR SELECT 1;
SELECT name, is_holdable, is_binary, is_scrollable FROM pg_cursors WHERE name = 'c';
COMMIT;
SELECT * FROM pg_get_keywords() WHERE word IN ('abort', 'select', 'left', 'between', 'year', 'all') ORDER BY 1;
SELECT name, utc_offset, is_dst FROM pg_timezone_names WHERE name IN ('UTC', 'Asia/Tokyo') ORDER BY 1;
-- Counters
SELECT wal_records > 0, wal_bytes > 0 FROM pg_stat_wal;
SELECT archived_count, failed_count FROM pg_stat_archiver;
SELECT buffers_alloc >= 0 FROM pg_stat_bgwriter;
SELECT datname, numbackends FROM pg_stat_database ORDER BY 1;
-- Sequences
CREATE SEQUENCE counter AS int INCREMENT 5 START 10 CYCLE;
SELECT currval('counter');
SELECT nextval('counter'), currval('counter'), lastval(), setval('counter', 20), nextval('counter');
SELECT setval('counter', 50, false), nextval('counter'), pg_sequence_last_value('counter');
SELECT * FROM pg_sequence_parameters('counter'::regclass);
SELECT * FROM pg_sequences;
SELECT nextval('missing');
DISCARD SEQUENCES;
SELECT currval('counter');
-- Access control lists as rows
SELECT privilege_type, is_grantable FROM pg_class, aclexplode(acldefault('r', relowner)) WHERE relname = 'counter' ORDER BY 1;
SELECT aclexplode(acldefault('n', 10));
SELECT pg_collation_for('a'::text), pg_collation_for('a' COLLATE "C");
SELECT pg_collation_for(1);
