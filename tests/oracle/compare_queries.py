#!/usr/bin/env python3
"""Random queries on Pinwheel and on stock PostgreSQL 15: both must return the same rows (or fail with the same code).

Usage: compare_queries.py [--seed N] [--count N]. Prints the seed, and each query on which the two differ.
"""
import argparse
import pathlib
import random
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tools"))
from cluster import Pinwheel, Stock  # noqa: E402

TABLES = {"t1": ("a", "b", "c"), "t2": ("a", "b", "d"), "t3": ("b", "d", "e")}
SCHEMA = """
create table t1 (a int primary key, b int, c text);
create table t2 (a int, b int, d int);
create table t3 (b int not null, d int, e text);
create index t1_b on t1 (b);
create index t2_a_b on t2 (a, b);
create index t3_d on t3 (d desc nulls last);
insert into t1 select i, nullif(i % 7, 3), 'x' || i % 5 from generate_series(1, 60) i;
insert into t2 select nullif(i % 20, 5), i % 9, nullif(i % 4, 1) from generate_series(1, 80) i;
insert into t3 select i % 6, nullif(i % 11, 2), case when i % 3 = 0 then null else 'x' || i % 5 end from generate_series(1, 40) i;
analyze t1; analyze t2; analyze t3;
"""
TEXT = {"c", "e"}


class Maker:
    def __init__(self, rng):
        self.rng = rng
        self.number = 0

    def alias(self):
        self.number += 1
        return f"r{self.number}"

    def relation(self, depth):
        if depth > 0 and self.rng.random() < 0.25:
            alias = self.alias()
            columns, text = self.select(depth - 1, inner=True)
            return f"({text}) {alias}", [(f"{alias}.{name}", kind) for name, kind in columns]
        table = self.rng.choice(list(TABLES))
        alias = self.alias()
        return f"{table} {alias}", [(f"{alias}.{c}", "text" if c in TEXT else "int") for c in TABLES[table]]

    def column(self, columns, kind="int"):
        fitting = [name for name, k in columns if k == kind]
        return self.rng.choice(fitting) if fitting else None

    def value(self, columns):
        column = self.column(columns)
        roll = self.rng.random()
        if column is None or roll < 0.2:
            return str(self.rng.randint(-2, 12))
        if roll < 0.7:
            return column
        if roll < 0.85:
            return f"({column} + {self.rng.randint(1, 5)})"
        return f"coalesce({column}, {self.rng.randint(0, 9)})"

    def condition(self, columns, depth, outer=()):
        every = list(columns) + list(outer)
        roll = self.rng.random()
        if roll < 0.45:
            return f"{self.value(columns)} {self.rng.choice(['=', '=', '<', '<=', '>', '<>'])} {self.value(every)}"
        if roll < 0.52 and self.column(columns):
            return f"{self.column(columns)} is {self.rng.choice(['', 'not '])}null"
        if roll < 0.6 and self.column(columns):
            items = ", ".join(str(self.rng.randint(0, 12)) for _ in range(self.rng.randint(1, 4)))
            return f"{self.column(columns)} {self.rng.choice(['', 'not '])}in ({items})"
        if roll < 0.66 and self.column(columns, "text"):
            return f"{self.column(columns, 'text')} {self.rng.choice(['=', '<', 'like'])} 'x{self.rng.randint(0, 4)}'"
        if roll < 0.8 and depth > 0:
            return self.sublink(columns, depth - 1)
        joiner = self.rng.choice([" and ", " or "])
        parts = [self.condition(columns, depth - 1, outer) for _ in range(2)]
        text = joiner.join(f"({p})" for p in parts)
        return f"not ({text})" if self.rng.random() < 0.15 else text

    def sublink(self, columns, depth):
        source, inner = self.relation(0)
        where = self.condition(inner, depth, columns)
        roll = self.rng.random()
        negation = self.rng.choice(["", "not "])
        if roll < 0.4:
            return f"{negation}exists (select 1 from {source} where {where})"
        if roll < 0.75 and self.column(inner):
            return f"{self.value(columns)} {negation}in (select {self.column(inner)} from {source} where {where})"
        return f"{self.value(columns)} {self.rng.choice(['=', '<', '>'])} (select {self.rng.choice(['max', 'min', 'count'])}({self.column(inner) or '*'}) from {source} where {where})"

    def from_clause(self, depth):
        source, columns = self.relation(depth)
        for _ in range(self.rng.choice([0, 1, 1, 2, 3])):
            other, more = self.relation(depth - 1)
            kind = self.rng.choice(["join", "join", "left join", "right join", "full join", "cross join"])
            both = columns + more
            if kind == "cross join":
                source = f"{source} cross join {other}"
            elif kind == "full join":
                source = f"{source} full join {other} on {self.column(columns) or 1} = {self.column(more) or 1}"
            else:
                condition = f"{self.column(columns) or 1} = {self.column(more) or 1}"
                if self.rng.random() < 0.3:
                    condition += f" and {self.condition(both, 0)}"
                source = f"{source} {kind} {other} on {condition}"
            columns = both
        return source, columns

    def select(self, depth, inner=False):
        source, columns = self.from_clause(depth)
        where = f" where {self.condition(columns, depth)}" if self.rng.random() < 0.7 else ""
        roll = self.rng.random()
        if roll < 0.25:
            key = self.column(columns) or "1"
            value = self.column(columns)
            items = [key, "count(*)", f"sum({value})" if value else "count(1)", f"max({value})" if value else "min(1)"]
            having = f" having count(*) > {self.rng.randint(0, 3)}" if self.rng.random() < 0.3 else ""
            text = f"select {', '.join(f'{e} as c{i}' for i, e in enumerate(items))} from {source}{where} group by {key}{having}"
            kinds = ["int", "int", "int", "int"]
            if inner:
                text = text.replace("count(*) as", "count(*)::int as").replace(") as c2", ")::int as c2")
        else:
            count = self.rng.randint(1, 3)
            items = [self.value(columns) for _ in range(count)]
            kinds = ["int"] * count
            distinct = "distinct " if self.rng.random() < 0.2 else ""
            text = f"select {distinct}{', '.join(f'{e} as c{i}' for i, e in enumerate(items))} from {source}{where}"
        order = ", ".join(str(i + 1) for i in range(len(kinds)))
        if self.rng.random() < 0.2:
            text += f" order by {order} limit {self.rng.randint(1, 20)}"
            if self.rng.random() < 0.3:
                text += f" offset {self.rng.randint(1, 5)}"
        elif not inner and self.rng.random() < 0.2:
            other = self.rng.choice(["union", "union all", "intersect", "except"])
            same = " , ".join("nullif(a, 4)" for _ in kinds)
            text = f"({text}) {other} (select {same} from t1 where b < 4)"
        return [(f"c{i}", kind) for i, kind in enumerate(kinds)], text


def run(cluster, statements, timeout=300):
    script = "\n".join(f"\\echo ==== {i}\n{text};" for i, text in enumerate(statements))
    done = subprocess.run(["psql", "-X", "-q", "-A", "-t", "-v", "VERBOSITY=sqlstate", "-f", "-"], input=script, text=True, timeout=timeout,
                          env=cluster.environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    results = {}
    current = None
    for line in done.stdout.splitlines():
        if line.startswith("==== "):
            current = int(line[5:])
            results[current] = []
        elif current is not None:
            results[current].append(line.split("ERROR:")[-1].strip() if "ERROR:" in line else line)
    return {i: sorted(rows) for i, rows in results.items()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--count", type=int, default=300)
    arguments = parser.parse_args()
    print(f"seed {arguments.seed}", flush=True)
    maker = Maker(random.Random(arguments.seed))
    statements = ["set statement_timeout = '5s'"] + [maker.select(2)[1] for _ in range(arguments.count)]
    differences = 0
    with Stock(name="oracle") as stock, Pinwheel({"fsync": "off"}, name="compare", init_options=("-N",)) as ours:
        stock.start()
        ours.start()
        stock.psql(SCHEMA)
        ours.psql(SCHEMA)
        expected = run(stock, statements)
        printed = run(ours, statements)
        for i, statement in enumerate(statements):
            if printed.get(i) == expected.get(i) or expected.get(i) == ["57014"] or printed.get(i) == ["57014"]:
                continue
            differences += 1
            print(f"-- differs:\n{statement};\n   stock    {str(expected.get(i))[:300]}\n   pinwheel {str(printed.get(i))[:300]}", flush=True)
        if differences:
            print(ours.log_tail(5))
    with_rows = sum(1 for rows in expected.values() if len(rows) > 0)
    failed = sum(1 for rows in expected.values() if len(rows) == 1 and len(rows[0]) == 5 and rows[0].isalnum() and not rows[0].isdigit())
    print(f"{len(statements)} statements, {with_rows} with rows, about {failed} errors, {differences} differ")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
