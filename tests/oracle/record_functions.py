#!/usr/bin/env python3
"""Asks stock PostgreSQL 15 what the cases in tests/sql_functions/cases.txt give and writes cases.tsv beside it.

Usage: tests/oracle/record_functions.py "host=... port=... user=..."

A case is `name(argument types)|argument|...` (a call, \\N is NULL), `in type|text` (the type's input and output
functions, with the typmod of the spelling) or `set name|value`. The result lines are
case TAB ok|null|error TAB value or SQLSTATE TAB message; backslash, tab and newline are escaped.
"""
import json, pathlib, re, subprocess, sys

HERE = pathlib.Path(__file__).resolve().parent.parent / "sql_functions"
PROBE = r"""
create function pg_temp.probe(expression text) returns json language plpgsql as $$
declare result text; message text; state text;
begin
  execute 'select row(' || expression || ')::text' into result;
  return json_build_array('ok', result);
exception when others then
  get stacked diagnostics message = message_text, state = returned_sqlstate;
  return json_build_array('error', state, message);
end $$;
"""


def literal(text):
    return "E'" + text.replace("\\", "\\\\").replace("'", "''") + "'"


def expression(case):
    head, *args = case.split("|")
    if head.startswith("in "):
        spelling = head[3:]
        base = re.sub(r"\(.*?\)", "", spelling)
        typmod = f"(select atttypmod from pg_attribute where attrelid = 'pg_temp.t_{abs(hash(spelling))}'::regclass and attnum = 1)"
        prepare = f"create temp table if not exists t_{abs(hash(spelling))} (v {spelling});"
        return prepare, f"pg_temp.read_as('{base}', {literal(args[0])}, {typmod})"
    name, types = re.match(r"(\S+?)\((.*)\)$", head).groups()
    types = [t for t in types.split(",") if t]
    values = [("null" if a == "\\N" else literal(a)) + "::" + t for a, t in zip(args, types)]
    return "", f'pg_catalog."{name}"({", ".join(values)})'


READ = r"""
create function pg_temp.read_as(type_name text, input text, typmod int) returns text language plpgsql as $$
declare t pg_type; call text; result text;
begin
  select * into t from pg_type where oid = type_name::regtype;
  call := format('%s(%L::cstring', t.typinput::regproc, input);
  if (select pronargs from pg_proc where oid = t.typinput) > 1 then
    call := call || format(', %s::oid, %s)', case when t.typelem <> 0 and t.typcategory = 'A' then t.typelem else t.oid end, typmod);
  else
    call := call || ')';
  end if;
  execute format('select textin(%s(%s))', t.typoutput::regproc, call) into result;
  return result;
end $$;
"""


def unrow(text):
    body = text[1:-1]
    if body == "":
        return None
    if not body.startswith('"'):
        return body
    return body[1:-1].replace('""', '"').replace("\\\\", "\\")


def escaped(text):
    return text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n")


def main():
    cases = [line for line in (HERE / "cases.txt").read_text().splitlines() if line and not line.startswith("#")]
    script = "set client_min_messages = error;\n" + PROBE + READ
    for case in cases:
        if case.startswith("set "):
            name, value = case[4:].split("|")
            script += f"set {name} = {literal(value)};\nselect '[\"set\"]';\n"
            continue
        prepare, sql = expression(case)
        script += f"{prepare}\nselect pg_temp.probe({literal(sql)});\n"
    run = subprocess.run(["psql", "-X", "-q", "-At", "-v", "ON_ERROR_STOP=1", sys.argv[1]], input=script, text=True,
                         capture_output=True)
    if run.returncode != 0:
        sys.exit(run.stderr)
    lines = []
    for case, answer in zip(cases, run.stdout.splitlines(), strict=True):
        kind, *rest = json.loads(answer)
        if kind == "set":
            lines.append(f"{escaped(case)}\tset\t\t")
        elif kind == "error":
            lines.append(f"{escaped(case)}\terror\t{rest[0]}\t{escaped(rest[1])}")
        else:
            value = unrow(rest[0])
            lines.append(f"{escaped(case)}\tnull\t\t" if value is None else f"{escaped(case)}\tok\t{escaped(value)}\t")
    (HERE / "cases.tsv").write_text("\n".join(lines) + "\n")
    print(f"{len(lines)} cases recorded")


main()
