#!/usr/bin/env python3
"""Asks stock PostgreSQL 15 what it makes of the statements in tests/sql_analyze/queries.sql (and in
psql_queries.sql: what psql -E shows) and writes expected.tsv (psql_expected.tsv) beside it.

Usage: tests/oracle/record_analyze.py "host=... port=... user=... dbname=..."

Fields: statement, SQLSTATE ("" = fine), message, position, detail, hint, result columns ("name:type oid,..."), view definition,
pretty view definition, how the view was made (SELECT and VALUES only). Backslash, tab and newline are escaped.
"""
import ctypes, ctypes.util, pathlib, re, sys

HERE = pathlib.Path(__file__).resolve().parent.parent / "sql_analyze"
pq = ctypes.CDLL(ctypes.util.find_library("pq"))
for name in ("PQconnectdb", "PQexec", "PQprepare", "PQdescribePrepared"):
    getattr(pq, name).restype = ctypes.c_void_p
for name in ("PQresultErrorField", "PQgetvalue", "PQfname", "PQerrorMessage"):
    getattr(pq, name).restype = ctypes.c_char_p
pq.PQftype.restype = ctypes.c_uint32


def call(function, *args):
    fixed = [ctypes.c_void_p(a) if isinstance(a, int) and a > 1 << 20 else a for a in args]
    return function(*fixed)


def field(result, code):
    value = pq.PQresultErrorField(ctypes.c_void_p(result), ctypes.c_int(ord(code)))
    return value.decode() if value else ""


def shown_type(oid):
    return str(oid) if oid < 16384 else "row"


class Stock:
    def __init__(self, info):
        self.connection = pq.PQconnectdb(info.encode())
        if pq.PQstatus(ctypes.c_void_p(self.connection)) != 0:
            sys.exit(pq.PQerrorMessage(ctypes.c_void_p(self.connection)).decode())

    def execute(self, text):
        return pq.PQexec(ctypes.c_void_p(self.connection), text.encode())

    def value(self, text):
        result = self.execute(text)
        if field(result, "C"):
            return None
        return pq.PQgetvalue(ctypes.c_void_p(result), 0, 0).decode()

    def prepare(self, text):
        return pq.PQprepare(ctypes.c_void_p(self.connection), b"s", text.encode(), 0, None)

    def columns(self):
        result = ctypes.c_void_p(pq.PQdescribePrepared(ctypes.c_void_p(self.connection), b"s"))
        return ",".join(f"{pq.PQfname(result, i).decode()}:{shown_type(pq.PQftype(result, i))}" for i in range(pq.PQnfields(result)))


def escape(text):
    return text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n")


def main():
    stock = Stock(sys.argv[1])
    stock.execute("drop schema public cascade; create schema public; create schema if not exists other")
    for statement in (HERE / "schema.sql").read_text().split(";\n"):
        if statement.strip():
            result = stock.execute(statement)
            if field(result, "C"):
                sys.exit(f"{statement}: {field(result, 'M')}")
    record(stock, "queries.sql", "expected.tsv")
    record(stock, "psql_queries.sql", "psql_expected.tsv")


def record(stock, source, target):
    rows = []
    for statement in (HERE / source).read_text().splitlines():
        # $n is only refused outside the extended protocol.
        parameter = re.search(r"\$\d", statement)
        result = stock.execute(f"explain {statement}") if parameter else stock.prepare(statement)
        row = [statement] + [field(result, c) for c in "CMPDH"]
        if parameter and row[3]:
            row[3] = str(int(row[3]) - len("explain "))
        if not row[1]:
            row.append(stock.columns())
            if statement.split()[0] in ("SELECT", "VALUES", "WITH", "(SELECT") and "DELETE" not in statement and source == "queries.sql":
                create = "create temp view probe as "
                made = stock.execute(create + statement)
                if field(made, "C") == "42701":  # columns need names of their own
                    create = f"create temp view probe({', '.join(f'c{i}' for i in range(len(row[6].split(','))))}) as "
                    made = stock.execute(create + statement)
                if not field(made, "C"):
                    row.append(stock.value("select pg_get_viewdef('probe'::regclass)") or "")
                    row.append(stock.value("select pg_get_viewdef('probe'::regclass, true)") or "")
                    row.append(create)
                    stock.execute("drop view probe")
            stock.execute("deallocate s")
        rows.append("\t".join(escape(x) for x in row))
    (HERE / target).write_text("\n".join(rows) + "\n")


if __name__ == "__main__":
    main()
