-- Definitions of the system's views, one per "-- view schema.name" line. Columns and their types are those of stock
-- PostgreSQL 15 (data/system_attributes.tsv); the text is ours. Names are looked up in pg_catalog.

-- view pg_catalog.pg_roles
SELECT r.rolname, r.rolsuper, r.rolinherit, r.rolcreaterole, r.rolcreatedb, r.rolcanlogin, r.rolreplication,
       r.rolconnlimit, '********'::text AS rolpassword, r.rolvaliduntil, r.rolbypassrls,
       (SELECT s.setconfig FROM pg_db_role_setting s WHERE s.setrole = r.oid AND s.setdatabase = 0) AS rolconfig, r.oid
FROM pg_authid r

-- view pg_catalog.pg_shadow
SELECT r.rolname AS usename, r.oid AS usesysid, r.rolcreatedb AS usecreatedb, r.rolsuper AS usesuper,
       r.rolreplication AS userepl, r.rolbypassrls AS usebypassrls, r.rolpassword AS passwd, r.rolvaliduntil AS valuntil,
       (SELECT s.setconfig FROM pg_db_role_setting s WHERE s.setrole = r.oid AND s.setdatabase = 0) AS useconfig
FROM pg_authid r WHERE r.rolcanlogin

-- view pg_catalog.pg_user
SELECT usename, usesysid, usecreatedb, usesuper, userepl, usebypassrls, '********'::text AS passwd, valuntil, useconfig
FROM pg_shadow

-- view pg_catalog.pg_group
SELECT r.rolname AS groname, r.oid AS grosysid,
       ARRAY(SELECT m.member FROM pg_auth_members m WHERE m.roleid = r.oid) AS grolist
FROM pg_authid r WHERE NOT r.rolcanlogin

-- view pg_catalog.pg_tables
SELECT n.nspname AS schemaname, c.relname AS tablename, pg_get_userbyid(c.relowner) AS tableowner,
       t.spcname AS tablespace, c.relhasindex AS hasindexes, c.relhasrules AS hasrules,
       c.relhastriggers AS hastriggers, c.relrowsecurity AS rowsecurity
FROM pg_class c LEFT JOIN pg_namespace n ON n.oid = c.relnamespace
     LEFT JOIN pg_tablespace t ON t.oid = c.reltablespace
WHERE c.relkind IN ('r', 'p')

-- view pg_catalog.pg_views
SELECT n.nspname AS schemaname, c.relname AS viewname, pg_get_userbyid(c.relowner) AS viewowner,
       pg_get_viewdef(c.oid) AS definition
FROM pg_class c LEFT JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'v'

-- view pg_catalog.pg_matviews
SELECT n.nspname AS schemaname, c.relname AS matviewname, pg_get_userbyid(c.relowner) AS matviewowner,
       t.spcname AS tablespace, c.relhasindex AS hasindexes, c.relispopulated AS ispopulated,
       pg_get_viewdef(c.oid) AS definition
FROM pg_class c LEFT JOIN pg_namespace n ON n.oid = c.relnamespace
     LEFT JOIN pg_tablespace t ON t.oid = c.reltablespace WHERE c.relkind = 'm'

-- view pg_catalog.pg_indexes
SELECT n.nspname AS schemaname, c.relname AS tablename, i.relname AS indexname, t.spcname AS tablespace,
       pg_get_indexdef(i.oid) AS indexdef
FROM pg_index x JOIN pg_class c ON c.oid = x.indrelid JOIN pg_class i ON i.oid = x.indexrelid
     LEFT JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_tablespace t ON t.oid = i.reltablespace
WHERE c.relkind IN ('r', 'm', 'p') AND i.relkind IN ('i', 'I')

-- view pg_catalog.pg_rules
SELECT n.nspname AS schemaname, c.relname AS tablename, r.rulename, NULL::text AS definition
FROM pg_rewrite r JOIN pg_class c ON c.oid = r.ev_class LEFT JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE r.rulename <> '_RETURN'

-- view pg_catalog.pg_policies
SELECT n.nspname AS schemaname, c.relname AS tablename, p.polname AS policyname,
       CASE WHEN p.polpermissive THEN 'PERMISSIVE' ELSE 'RESTRICTIVE' END AS permissive,
       ARRAY(SELECT a.rolname FROM pg_authid a WHERE a.oid = ANY (p.polroles) ORDER BY a.rolname) AS roles,
       CASE p.polcmd WHEN 'r' THEN 'SELECT' WHEN 'a' THEN 'INSERT' WHEN 'w' THEN 'UPDATE' WHEN 'd' THEN 'DELETE'
       WHEN '*' THEN 'ALL' END AS cmd, pg_get_expr(p.polqual, p.polrelid) AS qual,
       pg_get_expr(p.polwithcheck, p.polrelid) AS with_check
FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid LEFT JOIN pg_namespace n ON n.oid = c.relnamespace

-- view pg_catalog.pg_sequences
SELECT n.nspname AS schemaname, c.relname AS sequencename, pg_get_userbyid(c.relowner) AS sequenceowner,
       s.seqtypid::regtype AS data_type, s.seqstart AS start_value, s.seqmin AS min_value, s.seqmax AS max_value,
       s.seqincrement AS increment_by, s.seqcycle AS cycle, s.seqcache AS cache_size,
       CASE WHEN has_sequence_privilege(c.oid, 'SELECT,USAGE') THEN pg_sequence_last_value(c.oid) END AS last_value
FROM pg_sequence s JOIN pg_class c ON c.oid = s.seqrelid LEFT JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind = 'S'

-- view pg_catalog.pg_stats
SELECT n.nspname AS schemaname, c.relname AS tablename, a.attname, s.stainherit AS inherited,
       s.stanullfrac AS null_frac, s.stawidth AS avg_width, s.stadistinct AS n_distinct,
       CASE 1 WHEN s.stakind1 THEN s.stavalues1 WHEN s.stakind2 THEN s.stavalues2 WHEN s.stakind3 THEN s.stavalues3
       WHEN s.stakind4 THEN s.stavalues4 WHEN s.stakind5 THEN s.stavalues5 END AS most_common_vals,
       CASE 1 WHEN s.stakind1 THEN s.stanumbers1 WHEN s.stakind2 THEN s.stanumbers2 WHEN s.stakind3 THEN s.stanumbers3
       WHEN s.stakind4 THEN s.stanumbers4 WHEN s.stakind5 THEN s.stanumbers5 END AS most_common_freqs,
       CASE 2 WHEN s.stakind1 THEN s.stavalues1 WHEN s.stakind2 THEN s.stavalues2 WHEN s.stakind3 THEN s.stavalues3
       WHEN s.stakind4 THEN s.stavalues4 WHEN s.stakind5 THEN s.stavalues5 END AS histogram_bounds,
       CASE 3 WHEN s.stakind1 THEN s.stanumbers1[1] WHEN s.stakind2 THEN s.stanumbers2[1]
       WHEN s.stakind3 THEN s.stanumbers3[1] WHEN s.stakind4 THEN s.stanumbers4[1]
       WHEN s.stakind5 THEN s.stanumbers5[1] END AS correlation,
       CASE 4 WHEN s.stakind1 THEN s.stavalues1 WHEN s.stakind2 THEN s.stavalues2 END AS most_common_elems,
       CASE 4 WHEN s.stakind1 THEN s.stanumbers1 WHEN s.stakind2 THEN s.stanumbers2 END AS most_common_elem_freqs,
       CASE 5 WHEN s.stakind1 THEN s.stanumbers1 WHEN s.stakind2 THEN s.stanumbers2 END AS elem_count_histogram
FROM pg_statistic s JOIN pg_class c ON c.oid = s.starelid
     JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = s.staattnum
     LEFT JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE NOT a.attisdropped AND has_column_privilege(c.oid, a.attnum, 'select')

-- view pg_catalog.pg_settings
SELECT a.name, a.setting, a.unit, a.category, a.short_desc, a.extra_desc, a.context, a.vartype, a.source, a.min_val,
       a.max_val, a.enumvals, a.boot_val, a.reset_val, a.sourcefile, a.sourceline, a.pending_restart
FROM pg_show_all_settings() a

-- view pg_catalog.pg_file_settings
SELECT a.sourcefile, a.sourceline, a.seqno, a.name, a.setting, a.applied, a.error FROM pg_show_all_file_settings() a

-- view pg_catalog.pg_locks
SELECT l.locktype, l.database, l.relation, l.page, l.tuple, l.virtualxid, l.transactionid, l.classid, l.objid,
       l.objsubid, l.virtualtransaction, l.pid, l.mode, l.granted, l.fastpath, l.waitstart
FROM pg_lock_status() l

-- view pg_catalog.pg_prepared_statements
SELECT p.name, p.statement, p.prepare_time, p.parameter_types, p.from_sql, p.generic_plans, p.custom_plans
FROM pg_prepared_statement() p

-- view pg_catalog.pg_cursors
SELECT c.name, c.statement, c.is_holdable, c.is_binary, c.is_scrollable, c.creation_time FROM pg_cursor() c

-- view pg_catalog.pg_timezone_names
SELECT z.name, z.abbrev, z.utc_offset, z.is_dst FROM pg_timezone_names() z

-- view pg_catalog.pg_shmem_allocations
SELECT a.name, a.off, a.size, a.allocated_size FROM pg_get_shmem_allocations() a

-- view pg_catalog.pg_stat_activity
SELECT s.datid, d.datname, s.pid, s.leader_pid, s.usesysid, u.rolname AS usename, s.application_name, s.client_addr,
       s.client_hostname, s.client_port, s.backend_start, s.xact_start, s.query_start, s.state_change,
       s.wait_event_type, s.wait_event, s.state, s.backend_xid, s.backend_xmin, s.query_id, s.query, s.backend_type
FROM pg_stat_get_activity(NULL) s LEFT JOIN pg_database d ON d.oid = s.datid LEFT JOIN pg_authid u ON u.oid = s.usesysid

-- view pg_catalog.pg_stat_slru
SELECT s.name, s.blks_zeroed, s.blks_hit, s.blks_read, s.blks_written, s.blks_exists, s.flushes, s.truncates,
       s.stats_reset FROM pg_stat_get_slru() s

-- view pg_catalog.pg_stat_wal
SELECT w.wal_records, w.wal_fpi, w.wal_bytes, w.wal_buffers_full, w.wal_write, w.wal_sync, w.wal_write_time,
       w.wal_sync_time, w.stats_reset FROM pg_stat_get_wal() w

-- view pg_catalog.pg_stat_bgwriter
SELECT pg_stat_get_bgwriter_timed_checkpoints() AS checkpoints_timed,
       pg_stat_get_bgwriter_requested_checkpoints() AS checkpoints_req,
       pg_stat_get_checkpoint_write_time() AS checkpoint_write_time,
       pg_stat_get_checkpoint_sync_time() AS checkpoint_sync_time,
       pg_stat_get_bgwriter_buf_written_checkpoints() AS buffers_checkpoint,
       pg_stat_get_bgwriter_buf_written_clean() AS buffers_clean,
       pg_stat_get_bgwriter_maxwritten_clean() AS maxwritten_clean,
       pg_stat_get_buf_written_backend() AS buffers_backend, pg_stat_get_buf_fsync_backend() AS buffers_backend_fsync,
       pg_stat_get_buf_alloc() AS buffers_alloc, pg_stat_get_bgwriter_stat_reset_time() AS stats_reset

-- view pg_catalog.pg_stat_database
SELECT d.oid AS datid, d.datname, CASE WHEN d.oid = 0 THEN 0 ELSE pg_stat_get_db_numbackends(d.oid) END AS numbackends,
       pg_stat_get_db_xact_commit(d.oid) AS xact_commit, pg_stat_get_db_xact_rollback(d.oid) AS xact_rollback,
       pg_stat_get_db_blocks_fetched(d.oid) - pg_stat_get_db_blocks_hit(d.oid) AS blks_read,
       pg_stat_get_db_blocks_hit(d.oid) AS blks_hit, pg_stat_get_db_tuples_returned(d.oid) AS tup_returned,
       pg_stat_get_db_tuples_fetched(d.oid) AS tup_fetched, pg_stat_get_db_tuples_inserted(d.oid) AS tup_inserted,
       pg_stat_get_db_tuples_updated(d.oid) AS tup_updated, pg_stat_get_db_tuples_deleted(d.oid) AS tup_deleted,
       pg_stat_get_db_conflict_all(d.oid) AS conflicts, pg_stat_get_db_temp_files(d.oid) AS temp_files,
       pg_stat_get_db_temp_bytes(d.oid) AS temp_bytes, pg_stat_get_db_deadlocks(d.oid) AS deadlocks,
       pg_stat_get_db_checksum_failures(d.oid) AS checksum_failures,
       pg_stat_get_db_checksum_last_failure(d.oid) AS checksum_last_failure,
       pg_stat_get_db_blk_read_time(d.oid) AS blk_read_time, pg_stat_get_db_blk_write_time(d.oid) AS blk_write_time,
       pg_stat_get_db_session_time(d.oid) AS session_time, pg_stat_get_db_active_time(d.oid) AS active_time,
       pg_stat_get_db_idle_in_transaction_time(d.oid) AS idle_in_transaction_time,
       pg_stat_get_db_sessions(d.oid) AS sessions, pg_stat_get_db_sessions_abandoned(d.oid) AS sessions_abandoned,
       pg_stat_get_db_sessions_fatal(d.oid) AS sessions_fatal, pg_stat_get_db_sessions_killed(d.oid) AS sessions_killed,
       pg_stat_get_db_stat_reset_time(d.oid) AS stats_reset
FROM (SELECT 0::oid AS oid, NULL::name AS datname UNION ALL SELECT oid, datname FROM pg_database) d

-- view pg_catalog.pg_stat_all_tables
SELECT c.oid AS relid, n.nspname AS schemaname, c.relname, pg_stat_get_numscans(c.oid) AS seq_scan,
       pg_stat_get_tuples_returned(c.oid) AS seq_tup_read,
       (SELECT sum(pg_stat_get_numscans(i.indexrelid))::bigint FROM pg_index i WHERE i.indrelid = c.oid) AS idx_scan,
       CASE WHEN EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid) THEN pg_stat_get_tuples_fetched(c.oid) END
         AS idx_tup_fetch,
       pg_stat_get_tuples_inserted(c.oid) AS n_tup_ins, pg_stat_get_tuples_updated(c.oid) AS n_tup_upd,
       pg_stat_get_tuples_deleted(c.oid) AS n_tup_del, pg_stat_get_tuples_hot_updated(c.oid) AS n_tup_hot_upd,
       pg_stat_get_live_tuples(c.oid) AS n_live_tup, pg_stat_get_dead_tuples(c.oid) AS n_dead_tup,
       pg_stat_get_mod_since_analyze(c.oid) AS n_mod_since_analyze,
       pg_stat_get_ins_since_vacuum(c.oid) AS n_ins_since_vacuum, pg_stat_get_last_vacuum_time(c.oid) AS last_vacuum,
       pg_stat_get_last_autovacuum_time(c.oid) AS last_autovacuum,
       pg_stat_get_last_analyze_time(c.oid) AS last_analyze,
       pg_stat_get_last_autoanalyze_time(c.oid) AS last_autoanalyze, pg_stat_get_vacuum_count(c.oid) AS vacuum_count,
       pg_stat_get_autovacuum_count(c.oid) AS autovacuum_count, pg_stat_get_analyze_count(c.oid) AS analyze_count,
       pg_stat_get_autoanalyze_count(c.oid) AS autoanalyze_count
FROM pg_class c LEFT JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 't', 'm', 'p')

-- view pg_catalog.pg_stat_user_tables
SELECT * FROM pg_stat_all_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema') AND schemaname !~ '^pg_toast'

-- view pg_catalog.pg_stat_sys_tables
SELECT * FROM pg_stat_all_tables WHERE schemaname IN ('pg_catalog', 'information_schema') OR schemaname ~ '^pg_toast'

-- view pg_catalog.pg_stat_all_indexes
SELECT c.oid AS relid, i.oid AS indexrelid, n.nspname AS schemaname, c.relname, i.relname AS indexrelname,
       pg_stat_get_numscans(i.oid) AS idx_scan, pg_stat_get_tuples_returned(i.oid) AS idx_tup_read,
       pg_stat_get_tuples_fetched(i.oid) AS idx_tup_fetch
FROM pg_class c JOIN pg_index x ON c.oid = x.indrelid JOIN pg_class i ON i.oid = x.indexrelid
     LEFT JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 't', 'm')

-- view pg_catalog.pg_stat_user_indexes
SELECT * FROM pg_stat_all_indexes WHERE schemaname NOT IN ('pg_catalog', 'information_schema') AND schemaname !~ '^pg_toast'

-- view information_schema.schemata
SELECT current_database() AS catalog_name, n.nspname AS schema_name, u.rolname AS schema_owner,
       NULL::name AS default_character_set_catalog, NULL::name AS default_character_set_schema,
       NULL::name AS default_character_set_name, NULL::varchar AS sql_path
FROM pg_namespace n JOIN pg_authid u ON n.nspowner = u.oid
WHERE pg_has_role(n.nspowner, 'USAGE') OR has_schema_privilege(n.oid, 'CREATE, USAGE')

-- view information_schema.tables
SELECT current_database() AS table_catalog, n.nspname AS table_schema, c.relname AS table_name,
       (CASE WHEN c.relpersistence = 't' THEN 'LOCAL TEMPORARY' WHEN c.relkind IN ('r', 'p') THEN 'BASE TABLE'
        WHEN c.relkind = 'v' THEN 'VIEW' WHEN c.relkind = 'f' THEN 'FOREIGN' END)::varchar AS table_type,
       NULL::name AS self_referencing_column_name, NULL::varchar AS reference_generation,
       NULL::name AS user_defined_type_catalog, NULL::name AS user_defined_type_schema,
       NULL::name AS user_defined_type_name,
       (CASE WHEN c.relkind IN ('r', 'p') THEN 'YES' ELSE 'NO' END)::varchar(3) AS is_insertable_into,
       'NO'::varchar(3) AS is_typed,
       (CASE WHEN c.relpersistence = 't' THEN 'PRESERVE' END)::varchar AS commit_action
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'v', 'f', 'p') AND NOT pg_is_other_temp_schema(n.oid)
  AND (pg_has_role(c.relowner, 'USAGE')
       OR has_table_privilege(c.oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER'))

-- view information_schema.views
SELECT current_database() AS table_catalog, n.nspname AS table_schema, c.relname AS table_name,
       (CASE WHEN pg_has_role(c.relowner, 'USAGE') THEN pg_get_viewdef(c.oid) END)::varchar AS view_definition,
       'NONE'::varchar AS check_option, 'NO'::varchar(3) AS is_updatable, 'NO'::varchar(3) AS is_insertable_into,
       'NO'::varchar(3) AS is_trigger_updatable, 'NO'::varchar(3) AS is_trigger_deletable,
       'NO'::varchar(3) AS is_trigger_insertable_into
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind = 'v' AND (pg_has_role(c.relowner, 'USAGE')
       OR has_table_privilege(c.oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER'))

-- view information_schema.columns
SELECT current_database() AS table_catalog, n.nspname AS table_schema, c.relname AS table_name,
       a.attname AS column_name, a.attnum::int AS ordinal_position,
       (CASE WHEN a.attgenerated = '' THEN pg_get_expr(d.adbin, d.adrelid) END)::varchar AS column_default,
       (CASE WHEN a.attnotnull THEN 'NO' ELSE 'YES' END)::varchar(3) AS is_nullable,
       (CASE WHEN t.typelem <> 0 AND t.typlen = -1 THEN 'ARRAY' WHEN nt.nspname = 'pg_catalog'
        THEN format_type(a.atttypid, NULL) ELSE 'USER-DEFINED' END)::varchar AS data_type,
       CASE WHEN a.atttypmod > 0 AND a.atttypid IN (1042, 1043) THEN a.atttypmod - 4
            WHEN a.atttypmod > 0 AND a.atttypid IN (1560, 1562) THEN a.atttypmod END AS character_maximum_length,
       CASE WHEN a.atttypid IN (25, 1042, 1043) THEN
         CASE WHEN a.atttypmod > 0 AND a.atttypid IN (1042, 1043) THEN (a.atttypmod - 4) * 4 ELSE 1073741824 END
       END AS character_octet_length,
       CASE a.atttypid WHEN 21 THEN 16 WHEN 23 THEN 32 WHEN 20 THEN 64 WHEN 700 THEN 24 WHEN 701 THEN 53
         WHEN 1700 THEN CASE WHEN a.atttypmod > 0 THEN ((a.atttypmod - 4) >> 16) & 65535 END END AS numeric_precision,
       CASE WHEN a.atttypid IN (20, 21, 23, 700, 701) THEN 2 WHEN a.atttypid = 1700 THEN 10 END AS numeric_precision_radix,
       CASE WHEN a.atttypid IN (20, 21, 23) THEN 0
         WHEN a.atttypid = 1700 AND a.atttypmod > 0 THEN (a.atttypmod - 4) & 65535 END AS numeric_scale,
       CASE WHEN a.atttypid = 1082 THEN 0 WHEN a.atttypid IN (1083, 1114, 1184, 1266) THEN
         CASE WHEN a.atttypmod < 0 THEN 6 ELSE a.atttypmod END WHEN a.atttypid = 1186 THEN 6 END AS datetime_precision,
       NULL::varchar AS interval_type, NULL::int AS interval_precision, NULL::name AS character_set_catalog,
       NULL::name AS character_set_schema, NULL::name AS character_set_name,
       CASE WHEN co.oid IS NOT NULL AND co.collname <> 'default' THEN current_database() END AS collation_catalog,
       CASE WHEN co.collname <> 'default' THEN 'pg_catalog'::name END AS collation_schema,
       CASE WHEN co.collname <> 'default' THEN co.collname END AS collation_name,
       NULL::name AS domain_catalog, NULL::name AS domain_schema, NULL::name AS domain_name,
       current_database() AS udt_catalog, nt.nspname AS udt_schema, t.typname AS udt_name,
       NULL::name AS scope_catalog, NULL::name AS scope_schema, NULL::name AS scope_name,
       NULL::int AS maximum_cardinality, a.attnum::text::name AS dtd_identifier,
       'NO'::varchar(3) AS is_self_referencing,
       (CASE WHEN a.attidentity IN ('a', 'd') THEN 'YES' ELSE 'NO' END)::varchar(3) AS is_identity,
       (CASE a.attidentity WHEN 'a' THEN 'ALWAYS' WHEN 'd' THEN 'BY DEFAULT' END)::varchar AS identity_generation,
       s.seqstart::varchar AS identity_start, s.seqincrement::varchar AS identity_increment,
       s.seqmax::varchar AS identity_maximum, s.seqmin::varchar AS identity_minimum,
       (CASE WHEN s.seqcycle THEN 'YES' ELSE 'NO' END)::varchar(3) AS identity_cycle,
       (CASE WHEN a.attgenerated <> '' THEN 'ALWAYS' ELSE 'NEVER' END)::varchar AS is_generated,
       (CASE WHEN a.attgenerated <> '' THEN pg_get_expr(d.adbin, d.adrelid) END)::varchar AS generation_expression,
       (CASE WHEN c.relkind IN ('r', 'p') THEN 'YES' ELSE 'NO' END)::varchar(3) AS is_updatable
FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
     JOIN pg_type t ON t.oid = a.atttypid JOIN pg_namespace nt ON nt.oid = t.typnamespace
     LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
     LEFT JOIN pg_collation co ON co.oid = a.attcollation
     LEFT JOIN pg_depend dep ON dep.refclassid = 1259 AND dep.refobjid = c.oid AND dep.refobjsubid = a.attnum
       AND dep.deptype = 'i' AND dep.classid = 1259 AND a.attidentity IN ('a', 'd')
     LEFT JOIN pg_sequence s ON s.seqrelid = dep.objid
WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'v', 'f', 'p')
  AND (pg_has_role(c.relowner, 'USAGE')
       OR has_column_privilege(c.oid, a.attnum, 'SELECT, INSERT, UPDATE, REFERENCES'))

-- view information_schema.table_constraints
SELECT current_database() AS constraint_catalog, nc.nspname AS constraint_schema, k.conname AS constraint_name,
       current_database() AS table_catalog, n.nspname AS table_schema, c.relname AS table_name,
       (CASE k.contype WHEN 'c' THEN 'CHECK' WHEN 'f' THEN 'FOREIGN KEY' WHEN 'p' THEN 'PRIMARY KEY'
        WHEN 'u' THEN 'UNIQUE' END)::varchar AS constraint_type,
       (CASE WHEN k.condeferrable THEN 'YES' ELSE 'NO' END)::varchar(3) AS is_deferrable,
       (CASE WHEN k.condeferred THEN 'YES' ELSE 'NO' END)::varchar(3) AS initially_deferred,
       'YES'::varchar(3) AS enforced,
       (CASE WHEN k.contype = 'u' THEN CASE WHEN (SELECT NOT i.indnullsnotdistinct FROM pg_index i
        WHERE i.indexrelid = k.conindid) THEN 'YES' ELSE 'NO' END END)::varchar(3) AS nulls_distinct
FROM pg_constraint k JOIN pg_namespace nc ON nc.oid = k.connamespace JOIN pg_class c ON c.oid = k.conrelid
     JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE k.contype IN ('c', 'f', 'p', 'u') AND c.relkind IN ('r', 'p')
UNION ALL
SELECT current_database(), n.nspname, (n.oid::text || '_' || c.oid::text || '_' || a.attnum::text || '_not_null')::name,
       current_database(), n.nspname, c.relname, 'CHECK'::varchar, 'NO'::varchar(3), 'NO'::varchar(3), 'YES'::varchar(3),
       NULL::varchar(3)
FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE a.attnotnull AND a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'p')

-- view information_schema.key_column_usage
SELECT current_database() AS constraint_catalog, nc.nspname AS constraint_schema, k.conname AS constraint_name,
       current_database() AS table_catalog, n.nspname AS table_schema, c.relname AS table_name,
       a.attname AS column_name, p.position::int AS ordinal_position,
       CASE WHEN k.contype = 'f' THEN p.position::int END AS position_in_unique_constraint
FROM (SELECT x.oid, generate_subscripts(x.conkey, 1) AS position FROM pg_constraint x WHERE x.contype IN ('f', 'p', 'u')) p
     JOIN pg_constraint k ON k.oid = p.oid JOIN pg_namespace nc ON nc.oid = k.connamespace
     JOIN pg_class c ON c.oid = k.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
     JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.conkey[p.position]

-- view information_schema.referential_constraints
SELECT current_database() AS constraint_catalog, n.nspname AS constraint_schema, k.conname AS constraint_name,
       current_database() AS unique_constraint_catalog, nu.nspname AS unique_constraint_schema,
       u.conname AS unique_constraint_name,
       (CASE k.confmatchtype WHEN 'f' THEN 'FULL' WHEN 'p' THEN 'PARTIAL' ELSE 'NONE' END)::varchar AS match_option,
       (CASE k.confupdtype WHEN 'c' THEN 'CASCADE' WHEN 'n' THEN 'SET NULL' WHEN 'd' THEN 'SET DEFAULT'
        WHEN 'r' THEN 'RESTRICT' ELSE 'NO ACTION' END)::varchar AS update_rule,
       (CASE k.confdeltype WHEN 'c' THEN 'CASCADE' WHEN 'n' THEN 'SET NULL' WHEN 'd' THEN 'SET DEFAULT'
        WHEN 'r' THEN 'RESTRICT' ELSE 'NO ACTION' END)::varchar AS delete_rule
FROM pg_constraint k JOIN pg_namespace n ON n.oid = k.connamespace
     LEFT JOIN pg_constraint u ON u.conindid = k.conindid AND u.contype IN ('p', 'u')
     LEFT JOIN pg_namespace nu ON nu.oid = u.connamespace
WHERE k.contype = 'f'

-- view information_schema.check_constraints
SELECT current_database() AS constraint_catalog, n.nspname AS constraint_schema, k.conname AS constraint_name,
       pg_get_expr(k.conbin, k.conrelid)::varchar AS check_clause
FROM pg_constraint k JOIN pg_namespace n ON n.oid = k.connamespace WHERE k.contype = 'c'

-- view information_schema.sequences
SELECT current_database() AS sequence_catalog, n.nspname AS sequence_schema, c.relname AS sequence_name,
       format_type(s.seqtypid, NULL)::varchar AS data_type,
       CASE s.seqtypid WHEN 21 THEN 16 WHEN 23 THEN 32 ELSE 64 END AS numeric_precision, 2 AS numeric_precision_radix,
       0 AS numeric_scale, s.seqstart::varchar AS start_value, s.seqmin::varchar AS minimum_value,
       s.seqmax::varchar AS maximum_value, s.seqincrement::varchar AS increment,
       (CASE WHEN s.seqcycle THEN 'YES' ELSE 'NO' END)::varchar(3) AS cycle_option
FROM pg_sequence s JOIN pg_class c ON c.oid = s.seqrelid JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.classid = 1259 AND d.objid = c.oid AND d.deptype = 'i')

-- view pg_catalog.pg_stat_sys_indexes
SELECT * FROM pg_stat_all_indexes WHERE schemaname IN ('pg_catalog', 'information_schema') OR schemaname ~ '^pg_toast'

-- view pg_catalog.pg_stat_xact_all_tables
SELECT c.oid AS relid, n.nspname AS schemaname, c.relname, pg_stat_get_xact_numscans(c.oid) AS seq_scan,
       pg_stat_get_xact_tuples_returned(c.oid) AS seq_tup_read,
       (SELECT sum(pg_stat_get_xact_numscans(i.indexrelid))::bigint FROM pg_index i WHERE i.indrelid = c.oid) AS idx_scan,
       (SELECT sum(pg_stat_get_xact_tuples_fetched(i.indexrelid))::bigint FROM pg_index i WHERE i.indrelid = c.oid)
         + pg_stat_get_xact_tuples_fetched(c.oid) AS idx_tup_fetch,
       pg_stat_get_xact_tuples_inserted(c.oid) AS n_tup_ins, pg_stat_get_xact_tuples_updated(c.oid) AS n_tup_upd,
       pg_stat_get_xact_tuples_deleted(c.oid) AS n_tup_del, pg_stat_get_xact_tuples_hot_updated(c.oid) AS n_tup_hot_upd
FROM pg_class c LEFT JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 't', 'm', 'p')

-- view pg_catalog.pg_stat_xact_user_tables
SELECT * FROM pg_stat_xact_all_tables
WHERE schemaname NOT IN ('pg_catalog', 'information_schema') AND schemaname !~ '^pg_toast'

-- view pg_catalog.pg_stat_xact_sys_tables
SELECT * FROM pg_stat_xact_all_tables
WHERE schemaname IN ('pg_catalog', 'information_schema') OR schemaname ~ '^pg_toast'

-- view pg_catalog.pg_statio_all_tables
SELECT c.oid AS relid, n.nspname AS schemaname, c.relname,
       pg_stat_get_blocks_fetched(c.oid) - pg_stat_get_blocks_hit(c.oid) AS heap_blks_read,
       pg_stat_get_blocks_hit(c.oid) AS heap_blks_hit,
       (SELECT sum(pg_stat_get_blocks_fetched(i.indexrelid) - pg_stat_get_blocks_hit(i.indexrelid))::bigint
        FROM pg_index i WHERE i.indrelid = c.oid) AS idx_blks_read,
       (SELECT sum(pg_stat_get_blocks_hit(i.indexrelid))::bigint FROM pg_index i WHERE i.indrelid = c.oid) AS idx_blks_hit,
       pg_stat_get_blocks_fetched(t.oid) - pg_stat_get_blocks_hit(t.oid) AS toast_blks_read,
       pg_stat_get_blocks_hit(t.oid) AS toast_blks_hit,
       (SELECT sum(pg_stat_get_blocks_fetched(i.indexrelid) - pg_stat_get_blocks_hit(i.indexrelid))::bigint
        FROM pg_index i WHERE i.indrelid = t.oid) AS tidx_blks_read,
       (SELECT sum(pg_stat_get_blocks_hit(i.indexrelid))::bigint FROM pg_index i WHERE i.indrelid = t.oid) AS tidx_blks_hit
FROM pg_class c LEFT JOIN pg_class t ON t.oid = c.reltoastrelid LEFT JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 't', 'm')

-- view pg_catalog.pg_statio_user_tables
SELECT * FROM pg_statio_all_tables
WHERE schemaname NOT IN ('pg_catalog', 'information_schema') AND schemaname !~ '^pg_toast'

-- view pg_catalog.pg_statio_sys_tables
SELECT * FROM pg_statio_all_tables WHERE schemaname IN ('pg_catalog', 'information_schema') OR schemaname ~ '^pg_toast'

-- view pg_catalog.pg_statio_all_indexes
SELECT c.oid AS relid, i.oid AS indexrelid, n.nspname AS schemaname, c.relname, i.relname AS indexrelname,
       pg_stat_get_blocks_fetched(i.oid) - pg_stat_get_blocks_hit(i.oid) AS idx_blks_read,
       pg_stat_get_blocks_hit(i.oid) AS idx_blks_hit
FROM pg_class c JOIN pg_index x ON c.oid = x.indrelid JOIN pg_class i ON i.oid = x.indexrelid
     LEFT JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 't', 'm')

-- view pg_catalog.pg_statio_user_indexes
SELECT * FROM pg_statio_all_indexes
WHERE schemaname NOT IN ('pg_catalog', 'information_schema') AND schemaname !~ '^pg_toast'

-- view pg_catalog.pg_statio_sys_indexes
SELECT * FROM pg_statio_all_indexes WHERE schemaname IN ('pg_catalog', 'information_schema') OR schemaname ~ '^pg_toast'

-- view pg_catalog.pg_statio_all_sequences
SELECT c.oid AS relid, n.nspname AS schemaname, c.relname,
       pg_stat_get_blocks_fetched(c.oid) - pg_stat_get_blocks_hit(c.oid) AS blks_read,
       pg_stat_get_blocks_hit(c.oid) AS blks_hit
FROM pg_class c LEFT JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'S'

-- view pg_catalog.pg_statio_user_sequences
SELECT * FROM pg_statio_all_sequences
WHERE schemaname NOT IN ('pg_catalog', 'information_schema') AND schemaname !~ '^pg_toast'

-- view pg_catalog.pg_statio_sys_sequences
SELECT * FROM pg_statio_all_sequences
WHERE schemaname IN ('pg_catalog', 'information_schema') OR schemaname ~ '^pg_toast'

-- view pg_catalog.pg_stat_archiver
SELECT s.archived_count, s.last_archived_wal, s.last_archived_time, s.failed_count, s.last_failed_wal,
       s.last_failed_time, s.stats_reset FROM pg_stat_get_archiver() s

-- view pg_catalog.pg_stat_replication
SELECT s.pid, s.usesysid, u.rolname AS usename, s.application_name, s.client_addr, s.client_hostname, s.client_port,
       s.backend_start, s.backend_xmin, w.state, w.sent_lsn, w.write_lsn, w.flush_lsn, w.replay_lsn, w.write_lag,
       w.flush_lag, w.replay_lag, w.sync_priority, w.sync_state, w.reply_time
FROM pg_stat_get_activity(NULL) s JOIN pg_stat_get_wal_senders() w ON s.pid = w.pid
     LEFT JOIN pg_authid u ON u.oid = s.usesysid

-- view pg_catalog.pg_stat_ssl
SELECT s.pid, s.ssl, s.sslversion AS version, s.sslcipher AS cipher, s.sslbits AS bits, s.ssl_client_dn AS client_dn,
       s.ssl_client_serial AS client_serial, s.ssl_issuer_dn AS issuer_dn
FROM pg_stat_get_activity(NULL) s WHERE s.client_port IS NOT NULL

-- view pg_catalog.pg_stat_gssapi
SELECT s.pid, s.gss_auth AS gss_authenticated, s.gss_princ AS principal, s.gss_enc AS encrypted
FROM pg_stat_get_activity(NULL) s WHERE s.client_port IS NOT NULL

-- view pg_catalog.pg_stat_database_conflicts
SELECT d.oid AS datid, d.datname, pg_stat_get_db_conflict_tablespace(d.oid) AS confl_tablespace,
       pg_stat_get_db_conflict_lock(d.oid) AS confl_lock, pg_stat_get_db_conflict_snapshot(d.oid) AS confl_snapshot,
       pg_stat_get_db_conflict_bufferpin(d.oid) AS confl_bufferpin,
       pg_stat_get_db_conflict_startup_deadlock(d.oid) AS confl_deadlock
FROM pg_database d

-- view pg_catalog.pg_prepared_xacts
SELECT p.transaction, p.gid, p.prepared, u.rolname AS owner, d.datname AS database
FROM pg_prepared_xact() p LEFT JOIN pg_authid u ON p.ownerid = u.oid LEFT JOIN pg_database d ON p.dbid = d.oid

-- view pg_catalog.pg_available_extensions
SELECT e.name, e.default_version, x.extversion AS installed_version, e.comment
FROM pg_available_extensions() e LEFT JOIN pg_extension x ON e.name = x.extname

-- view pg_catalog.pg_user_mappings
SELECT m.oid AS umid, s.oid AS srvid, s.srvname, m.umuser,
       CASE WHEN m.umuser = 0 THEN 'public'::name ELSE a.rolname END AS usename,
       CASE WHEN pg_has_role(s.srvowner, 'USAGE') THEN m.umoptions END AS umoptions
FROM pg_user_mapping m JOIN pg_foreign_server s ON m.umserver = s.oid LEFT JOIN pg_authid a ON a.oid = m.umuser

-- view information_schema.information_schema_catalog_name
SELECT current_database() AS catalog_name

-- view information_schema.enabled_roles
SELECT a.rolname AS role_name FROM pg_authid a WHERE pg_has_role(a.oid, 'USAGE')

-- view information_schema.applicable_roles
SELECT a.rolname AS grantee, b.rolname AS role_name,
       (CASE WHEN m.admin_option THEN 'YES' ELSE 'NO' END)::varchar(3) AS is_grantable
FROM (SELECT member, roleid, admin_option FROM pg_auth_members
      UNION SELECT d.datdba, o.oid, false FROM pg_database d, pg_authid o
      WHERE d.datname = current_database() AND o.rolname = 'pg_database_owner') m
     JOIN pg_authid a ON m.member = a.oid JOIN pg_authid b ON m.roleid = b.oid
WHERE pg_has_role(a.oid, 'USAGE')

-- view information_schema.table_privileges
SELECT g.rolname AS grantor, CASE WHEN x.grantee = 0 THEN 'PUBLIC'::name ELSE r.rolname END AS grantee,
       current_database() AS table_catalog, n.nspname AS table_schema, c.relname AS table_name,
       x.privilege_type::varchar AS privilege_type,
       (CASE WHEN x.is_grantable OR pg_has_role(x.grantee, c.relowner, 'USAGE') THEN 'YES' ELSE 'NO' END)::varchar(3)
         AS is_grantable,
       (CASE WHEN x.privilege_type = 'SELECT' THEN 'YES' ELSE 'NO' END)::varchar(3) AS with_hierarchy
FROM pg_class c CROSS JOIN LATERAL aclexplode(coalesce(c.relacl, acldefault('r', c.relowner))) x
     JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_authid g ON g.oid = x.grantor
     LEFT JOIN pg_authid r ON r.oid = x.grantee
WHERE c.relkind IN ('r', 'v', 'f', 'p')
  AND x.privilege_type IN ('INSERT', 'SELECT', 'UPDATE', 'DELETE', 'TRUNCATE', 'REFERENCES', 'TRIGGER')
  AND (pg_has_role(g.oid, 'USAGE') OR x.grantee = 0 OR pg_has_role(x.grantee, 'USAGE'))

-- view information_schema.role_table_grants
SELECT t.grantor, t.grantee, t.table_catalog, t.table_schema, t.table_name, t.privilege_type, t.is_grantable,
       t.with_hierarchy
FROM information_schema.table_privileges t
WHERE t.grantor IN (SELECT role_name FROM information_schema.enabled_roles)
   OR t.grantee IN (SELECT role_name FROM information_schema.enabled_roles)

-- view information_schema.character_sets
SELECT NULL::name AS character_set_catalog, NULL::name AS character_set_schema,
       getdatabaseencoding() AS character_set_name, 'UCS'::name AS character_repertoire,
       getdatabaseencoding() AS form_of_use, current_database() AS default_collate_catalog,
       n.nspname AS default_collate_schema, c.collname AS default_collate_name
FROM pg_database d LEFT JOIN (pg_collation c JOIN pg_namespace n ON c.collnamespace = n.oid)
     ON d.datcollate = c.collcollate AND d.datctype = c.collctype
WHERE d.datname = current_database()

-- view information_schema.collations
SELECT current_database() AS collation_catalog, n.nspname AS collation_schema, c.collname AS collation_name,
       'NO PAD'::varchar AS pad_attribute
FROM pg_collation c JOIN pg_namespace n ON c.collnamespace = n.oid WHERE c.collencoding IN (-1, 6)

-- view information_schema.constraint_table_usage
SELECT current_database() AS table_catalog, n.nspname AS table_schema, c.relname AS table_name,
       current_database() AS constraint_catalog, nk.nspname AS constraint_schema, k.conname AS constraint_name
FROM pg_constraint k JOIN pg_namespace nk ON nk.oid = k.connamespace
     JOIN pg_class c ON c.oid = CASE WHEN k.contype = 'f' THEN k.confrelid ELSE k.conrelid END
     JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE k.contype IN ('f', 'p', 'u') AND c.relkind IN ('r', 'p') AND pg_has_role(c.relowner, 'USAGE')

-- view information_schema.constraint_column_usage
SELECT current_database() AS table_catalog, n.nspname AS table_schema, c.relname AS table_name, a.attname AS column_name,
       current_database() AS constraint_catalog, nk.nspname AS constraint_schema, k.conname AS constraint_name
FROM pg_constraint k JOIN pg_namespace nk ON nk.oid = k.connamespace
     JOIN pg_class c ON c.oid = CASE WHEN k.contype = 'f' THEN k.confrelid ELSE k.conrelid END
     JOIN pg_namespace n ON n.oid = c.relnamespace
     JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = ANY (CASE WHEN k.contype = 'f' THEN k.confkey ELSE k.conkey END)
WHERE k.contype IN ('c', 'f', 'p', 'u') AND c.relkind IN ('r', 'p') AND NOT a.attisdropped
  AND pg_has_role(c.relowner, 'USAGE')

-- view pg_catalog.pg_stat_progress_vacuum
SELECT s.pid, s.datid, d.datname, s.relid,
       CASE s.param1 WHEN 0 THEN 'initializing' WHEN 1 THEN 'scanning heap' WHEN 2 THEN 'vacuuming indexes'
         WHEN 3 THEN 'vacuuming heap' WHEN 4 THEN 'cleaning up indexes' WHEN 5 THEN 'truncating heap'
         WHEN 6 THEN 'performing final cleanup' END AS phase,
       s.param2 AS heap_blks_total, s.param3 AS heap_blks_scanned, s.param4 AS heap_blks_vacuumed,
       s.param5 AS index_vacuum_count, s.param6 AS max_dead_tuples, s.param7 AS num_dead_tuples
FROM pg_stat_get_progress_info('VACUUM') s LEFT JOIN pg_database d ON d.oid = s.datid

-- view pg_catalog.pg_stat_progress_analyze
SELECT s.pid, s.datid, d.datname, s.relid,
       CASE s.param1 WHEN 0 THEN 'initializing' WHEN 1 THEN 'acquiring sample rows' WHEN 3 THEN 'computing statistics'
         WHEN 5 THEN 'finalizing analyze' END AS phase,
       s.param2 AS sample_blks_total, s.param3 AS sample_blks_scanned, s.param4 AS ext_stats_total,
       s.param5 AS ext_stats_computed, s.param6 AS child_tables_total, s.param7 AS child_tables_done,
       s.param8::oid AS current_child_table_relid
FROM pg_stat_get_progress_info('ANALYZE') s LEFT JOIN pg_database d ON d.oid = s.datid

-- view pg_catalog.pg_stat_progress_cluster
SELECT s.pid, s.datid, d.datname, s.relid, CASE s.param1 WHEN 1 THEN 'CLUSTER' WHEN 2 THEN 'VACUUM FULL' END AS command,
       CASE s.param2 WHEN 0 THEN 'initializing' WHEN 1 THEN 'seq scanning heap' WHEN 2 THEN 'index scanning heap'
         WHEN 3 THEN 'sorting tuples' WHEN 4 THEN 'writing new heap' WHEN 5 THEN 'swapping relation files'
         WHEN 6 THEN 'rebuilding index' WHEN 7 THEN 'performing final cleanup' END AS phase,
       s.param3::oid AS cluster_index_relid, s.param4 AS heap_tuples_scanned, s.param5 AS heap_tuples_written,
       s.param6 AS heap_blks_total, s.param7 AS heap_blks_scanned, s.param8 AS index_rebuild_count
FROM pg_stat_get_progress_info('CLUSTER') s LEFT JOIN pg_database d ON d.oid = s.datid

-- view pg_catalog.pg_stat_progress_create_index
SELECT s.pid, s.datid, d.datname, s.relid, s.param7::oid AS index_relid,
       CASE s.param1 WHEN 1 THEN 'CREATE INDEX' WHEN 2 THEN 'CREATE INDEX CONCURRENTLY' WHEN 3 THEN 'REINDEX'
         WHEN 4 THEN 'REINDEX CONCURRENTLY' END AS command,
       CASE s.param10 WHEN 0 THEN 'initializing'
         WHEN 2 THEN 'building index' || CASE s.param11 WHEN 1 THEN ': initializing' WHEN 2 THEN ': scanning table'
           WHEN 3 THEN ': sorting live tuples' WHEN 4 THEN ': sorting dead tuples' WHEN 5 THEN ': loading tuples in tree'
           ELSE '' END END AS phase,
       s.param4 AS lockers_total, s.param5 AS lockers_done, s.param6 AS current_locker_pid, s.param16 AS blocks_total,
       s.param17 AS blocks_done, s.param12 AS tuples_total, s.param13 AS tuples_done, s.param14 AS partitions_total,
       s.param15 AS partitions_done
FROM pg_stat_get_progress_info('CREATE INDEX') s LEFT JOIN pg_database d ON d.oid = s.datid

-- view pg_catalog.pg_stat_progress_copy
SELECT s.pid, s.datid, d.datname, s.relid, CASE s.param5 WHEN 1 THEN 'COPY FROM' WHEN 2 THEN 'COPY TO' END AS command,
       CASE s.param6 WHEN 1 THEN 'FILE' WHEN 2 THEN 'PROGRAM' WHEN 3 THEN 'PIPE' WHEN 4 THEN 'CALLBACK' END AS type,
       s.param1 AS bytes_processed, s.param2 AS bytes_total, s.param3 AS tuples_processed, s.param4 AS tuples_excluded
FROM pg_stat_get_progress_info('COPY') s LEFT JOIN pg_database d ON d.oid = s.datid

-- view pg_catalog.pg_stat_wal_receiver
SELECT s.pid, s.status, s.receive_start_lsn, s.receive_start_tli, s.written_lsn, s.flushed_lsn, s.received_tli,
       s.last_msg_send_time, s.last_msg_receipt_time, s.latest_end_lsn, s.latest_end_time, s.slot_name, s.sender_host,
       s.sender_port, s.conninfo
FROM pg_stat_get_wal_receiver() s WHERE s.pid IS NOT NULL

-- view pg_catalog.pg_stat_user_functions
SELECT p.oid AS funcid, n.nspname AS schemaname, p.proname AS funcname, pg_stat_get_function_calls(p.oid) AS calls,
       pg_stat_get_function_total_time(p.oid) AS total_time, pg_stat_get_function_self_time(p.oid) AS self_time
FROM pg_proc p LEFT JOIN pg_namespace n ON n.oid = p.pronamespace
WHERE p.prolang <> 12 AND pg_stat_get_function_calls(p.oid) IS NOT NULL
