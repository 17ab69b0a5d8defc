"""Writes the rows of the type table from the recorded pg_type: python3 generate_type_table.py pg_type.tsv out.inc"""
import sys

# Types whose layout is ours, not stock's: xids have 64 bits.
LENGTH_OVERRIDES = {"xid": (8, "d")}
REG = "regproc regprocedure regoper regoperator regclass regtype regnamespace regrole regcollation".split()
SAME_NAME = ("bool int2 int4 int8 oid xid xid8 cid float4 float8 char name text bpchar varchar bytea cstring unknown "
             "json jsonb numeric date time timetz timestamp timestamptz interval uuid tid pg_lsn void aclitem bit varbit "
             "int2vector oidvector record").split()
TYPMODS = {
    "bpchar": ("char_typmod_in", "char_typmod_out"), "varchar": ("varchar_typmod_in", "char_typmod_out"),
    "numeric": ("numeric_typmod_in", "numeric_typmod_out"), "time": ("time_typmod_in", "time_typmod_out"),
    "timetz": ("timetz_typmod_in", "timetz_typmod_out"), "timestamp": ("timestamp_typmod_in", "time_typmod_out"),
    "timestamptz": ("timestamptz_typmod_in", "timetz_typmod_out"),
    "interval": ("interval_typmod_in", "interval_typmod_out"), "bit": ("bit_typmod_in", "bit_typmod_out"),
    "varbit": ("bit_typmod_in", "bit_typmod_out"),
}


def io_name(row):
    name = row["typname"]
    if name in SAME_NAME:
        return name
    if name in REG:
        return "reg"
    if name == "pg_node_tree":
        return "text"
    return "array" if row["typcategory"] == "A" else "pseudo"


def main():
    lines = [line.rstrip("\n").split("\t") for line in open(sys.argv[1])]
    rows = [dict(zip(lines[0], line)) for line in lines[1:]]
    by_oid = {row["oid"]: row for row in rows}
    boolean = {"t": "true", "f": "false"}
    with open(sys.argv[2], "w") as out:
        for row in rows:
            name, io = row["typname"], io_name(row)
            length, align = LENGTH_OVERRIDES.get(name, (row["typlen"], row["typalign"]))
            base = by_oid.get(row["typelem"], row) if row["typcategory"] == "A" else row
            typmod_in, typmod_out = TYPMODS.get(base["typname"], ("nullptr", "nullptr"))
            if typmod_in != "nullptr":
                typmod_in, typmod_out = "io::" + typmod_in, "io::" + typmod_out
            out.write(f'{{Oid{{{row["oid"]}}}, "{name}", {length}, {boolean[row["typbyval"]]}, \'{align}\', '
                      f'\'{row["typstorage"]}\', \'{row["typtype"]}\', \'{row["typcategory"]}\', '
                      f'{boolean[row["typispreferred"]]}, \'{row["typdelim"]}\', Oid{{{row["typelem"]}}}, '
                      f'Oid{{{row["typarray"]}}}, Oid{{{row["typcollation"]}}}, io::{io}_in, io::{io}_out, '
                      f'io::{io}_recv, io::{io}_send, {typmod_in}, {typmod_out}}},\n')


main()
