#!/usr/bin/env python3
"""Takes lines out of the code, one at a time, and sees whether a test notices.

    tests/mutants/run.py [--sure] [-k WORD] [LIST...]

A list (tests/mutants/*.mutants) names what judges its mutants, and the mutants:

    tests: test_a test_b
    run: sim --first --seeds 100 designs/social.yaml
    = what the mutant forgets
    file: src/store/…
    - a piece of text that stands in that file exactly once
    + what stands there instead (may be empty; several lines of - or + are one piece)

`tests` are test programs without arguments; `run`, of which there may be several, is a program of the build with arguments, started in the
tree. They are asked in this order until one fails. What stands before the first mutant is for all that name none of their own. Name the test that
shows the promise: it is quicker, and says where to read about it.

--sure: they are not run without a mutant first. A copy of the tree is changed, never the tree itself. Exits with 0 when every mutant was noticed.
SPDX-License-Identifier: Apache-2.0
"""
import os
import pathlib
import shutil
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORK = ROOT / "build-mutants"
TREE = WORK / "tree"
BUILD = WORK / "build"
JOBS = os.cpu_count()
TIMEOUT = 300  # a mutant that hangs was noticed, too


def die(text):
    sys.exit(f"mutants: {text}")


def read_list(path):
    judges, mutants, now = {"tests": [], "run": []}, [], None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        where = f"{path.name}:{number}"
        word, _, rest = line.partition(": ")
        if word in judges:
            into = now["own"] if now else judges
            into.setdefault(word, []).extend([rest.split()] if word == "run" else [[name] for name in rest.split()])
        elif line.startswith("= "):
            now = {"name": line[2:], "file": None, "old": [], "new": [], "own": {}, "where": where}
            mutants.append(now)
        elif line.startswith("file: "):
            now["file"] = line[6:].strip()
        elif line.startswith("- "):
            now["old"].append(line[2:])
        elif line.startswith("+"):
            now["new"].append(line[2:])
        elif line.strip() and not line.startswith("#"):
            die(f"{where}: cannot make sense of '{line}'")
    for m in mutants:
        m["judges"] = [j for word in judges for j in (m["own"] or judges).get(word, [])]
    return mutants


def copy_tree():
    """Only what differs is written, so that only that is compiled again; a mutant of the last run is mended, too."""
    wanted = set()
    for name in ("src", "include", "tests", "bench", "console", "designs", "scripts", "meson.build", "meson_options.txt"):
        source = ROOT / name
        for path in [source] if source.is_file() else source.rglob("*"):
            if not path.is_file() or "node_modules" in path.parts or "__pycache__" in path.parts:
                continue
            to = TREE / path.relative_to(ROOT)
            wanted.add(to)
            data = path.read_bytes()
            if not to.exists() or to.read_bytes() != data:
                to.parent.mkdir(parents=True, exist_ok=True)
                to.write_bytes(data)
                shutil.copymode(path, to)
    for path in TREE.rglob("*"):
        if path.is_file() and path not in wanted:
            path.unlink()


def build(targets):
    return subprocess.run(["ninja", "-j", str(JOBS), "-C", str(BUILD), *targets], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def targets_of(names):
    listed = subprocess.run(["ninja", "-C", str(BUILD), "-t", "targets", "all"], stdout=subprocess.PIPE, text=True, check=True).stdout
    paths = {}
    for line in listed.splitlines():
        path = line.split(":")[0]
        paths[path.rsplit("/", 1)[-1]] = path
    missing = [n for n in names if n not in paths]
    if missing:
        die(f"there is no test program {missing[0]}")
    return {n: paths[n] for n in names}


def fails(command):
    """Up to its first failure: a test program would go on after that."""
    run = subprocess.Popen(command, cwd=TREE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    timer = threading.Timer(TIMEOUT, run.kill)
    timer.start()
    failed = any(line.startswith("[  FAILED  ]") for line in run.stdout)
    if failed:
        run.kill()
    timer.cancel()
    return run.wait() != 0 or failed


def notice(mutant):
    """The command that fails, or None."""
    targets = targets_of({judge[0] for judge in mutant["judges"]})
    for judge in mutant["judges"]:
        built = build([targets[judge[0]]])  # one at a time: those after the one that notices are not linked
        if built.returncode:
            print(built.stdout[-2000:])
            die(f"{mutant['where']}: the mutant does not compile")
        if fails([str(BUILD / targets[judge[0]]), *judge[1:]]):
            return " ".join(judge)
    return None


def main(argv):
    word, sure = "", argv[:1] == ["--sure"]
    argv = argv[1:] if sure else argv
    if argv[:1] == ["-k"]:
        word, argv = argv[1], argv[2:]
    lists = [pathlib.Path(a) for a in argv] or sorted(pathlib.Path(__file__).parent.glob("*.mutants"))
    mutants = [m for path in lists for m in read_list(path) if word in m["name"]]
    if not mutants:
        die("there is no such mutant")
    lost = [m for m in mutants if (ROOT / m["file"]).read_text().count("\n".join(m["old"])) != 1]
    if lost:
        die("\n".join(f"{m['where']}: its text does not stand exactly once in {m['file']}" for m in lost))
    copy_tree()
    if not (BUILD / "build.ninja").exists():
        subprocess.run(["meson", "setup", str(BUILD), str(TREE), "--buildtype=debugoptimized", "-Dwerror=false"], stdout=subprocess.DEVNULL, check=True)
    whole = sorted({tuple(j) for m in mutants for j in m["judges"]})
    print(f"==> building, and running {len(whole)} commands as they are", flush=True)
    for judge in whole:
        print("   ", " ".join(judge), flush=True)
    failing = not sure and notice({"judges": whole, "where": "without a mutant"})
    if failing:
        die(f"{failing} fails without any mutant")
    survived = []
    for i, m in enumerate(mutants, 1):
        path = TREE / m["file"]
        was = path.read_text()
        path.write_text(was.replace("\n".join(m["old"]), "\n".join(m["new"])))
        began = time.time()
        try:
            by = notice(m)
        finally:
            path.write_text(was)
        if not by:
            survived.append(m)
        print(f"[{i}/{len(mutants)}] {'noticed by ' + by if by else 'SURVIVED'}: {m['name']} ({time.time() - began:.0f} s)", flush=True)
    print(f"mutants: {len(mutants) - len(survived)} passed, {len(survived)} failed")
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
