"""Writes the facts that calling code needs from the recorded catalogs and from our own functions:
python3 generate_proc_table.py pg_proc.tsv own_pg_proc.tsv pg_aggregate.tsv procs.inc aggregates.inc"""
import sys


def read(path):
    lines = [line.rstrip("\n").split("\t") for line in open(path, encoding="utf-8")]
    return [dict(zip(lines[0], line)) for line in lines[1:]]


def quoted(text):
    return '"' + text.replace("\\\\", "\\").replace("\\", "\\\\").replace('"', '\\"') + '"'


def main():
    procs = sorted(read(sys.argv[1]) + read(sys.argv[2]), key=lambda row: int(row["oid"]))
    aggregates = read(sys.argv[3])
    args, offsets = [], {}
    for row in procs:
        offsets[row["oid"]] = len(args)
        args += row["proargtypes"].split()
    boolean = {"t": "true", "f": "false"}
    with open(sys.argv[4], "w", encoding="utf-8") as out:
        out.write("constexpr Oid kArgs[] = {%s};\n" % ", ".join(f"Oid{{{a}}}" for a in args))
        out.write("constexpr ProcInfo kProcs[] = {\n")
        for row in procs:
            count = len(row["proargtypes"].split())
            internal = row["prolang"] == "12"  # the text of SQL functions names no code
            out.write(f'{{Oid{{{row["oid"]}}}, "{row["proname"]}", {quoted(row["prosrc"] if internal else "")}, '
                      f'Oid{{{row["prorettype"]}}}, std::span<const Oid>{{kArgs + {offsets[row["oid"]]}, {count}}}, '
                      f'Oid{{{row["provariadic"]}}}, {row["pronargdefaults"]}, {boolean[row["proisstrict"]]}, '
                      f'{boolean[row["proretset"]]}, \'{row["prokind"]}\', \'{row["provolatile"]}\'}},\n')
        out.write("};\n")
    with open(sys.argv[5], "w", encoding="utf-8") as out:
        for row in aggregates:
            initial = row["agginitval"]
            has_initial = "f" if initial == "\\N" else "t"
            out.write(f'{{Oid{{{row["aggfnoid"]}}}, nullptr, nullptr, nullptr, Oid{{{row["aggtransfn"]}}}, '
                      f'Oid{{{row["aggfinalfn"]}}}, Oid{{{row["aggcombinefn"]}}}, Oid{{{row["aggtranstype"]}}}, '
                      f'\'{row["aggkind"]}\', false, false, {boolean[row["aggfinalextra"]]}, '
                      f'{boolean[has_initial]}, {quoted(initial if has_initial == "t" else "")}, '
                      f'Oid{{{row["aggsortop"]}}}}},\n')


main()
