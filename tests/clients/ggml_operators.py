#!/usr/bin/env python3
"""ggml's own tests of its operators (test-backend-ops of llama.cpp) on the driver, each operator by itself,
in run and in check mode. They compare what its Vulkan back end computes with its back end for the CPU.

One line for each operator and mode: tests that passed, of how many that the device supports, wall and
processor seconds, and the kinds of findings. Ends with 1 if a test failed, a program crashed or did not end
in time. Takes hours, and is no part of .ci/run. `CLIENTS=all setup.sh` installs what it needs.

usage: ggml_operators.py [--modes MODE,...] [--limit SECONDS] [--logs FOLDER] [--params REGEX]
                         [FOLDER [PELLUCID [OPERATOR...]]]
"""

import argparse
import csv
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("--modes", default="run,check")
arguments.add_argument("--limit", type=int, default=3600,
                       help="processor seconds for one operator in one mode")
arguments.add_argument("--logs", help="keep what the programs print, and the reports, there")
arguments.add_argument("--params", help="only tests whose parameters this matches")
arguments.add_argument("folder", nargs="?", default=os.path.join(ROOT, "target", "clients"))
arguments.add_argument("pellucid", nargs="?", default=os.path.join(ROOT, "target", "release", "pellucid"))
arguments.add_argument("operators", nargs="*")
options = arguments.parse_args()
# Findings then name the pipelines.
os.environ.setdefault("GGML_VK_DEBUG_MARKERS", "1")
program = os.path.join(os.path.abspath(options.folder), "llama", "operators", "test-backend-ops")
logs = options.logs or tempfile.mkdtemp()
os.makedirs(logs, exist_ok=True)


def pellucid(mode, *words):
    return [options.pellucid, "run", "--mode", mode, "--for", "ggml", *words]


def operators():
    """The operators of which the device supports a test, in the order of the tests."""
    listing = subprocess.run(pellucid("run", "--", program, "support", "-b", "Vulkan0", "--output", "csv"),
                             check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    rows = list(csv.DictReader(listing.splitlines()))
    return list(dict.fromkeys(row["op_name"] for row in rows if row["supported"] == "1"))


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def kinds(report):
    """The kinds of findings in a report. That of a program which was killed may end within a line."""
    found = set()
    if os.path.exists(report):
        for line in open(report):
            if line.endswith("\n"):
                found.add(json.loads(line).get("id"))
    return found - {None}


def run(operator, mode):
    """Whether all tests passed; prints the line."""
    log, report = (os.path.join(logs, f"{operator}.{mode}.{kind}") for kind in ("log", "jsonl"))
    words = ["--report", report, "--", program, "test", "-b", "Vulkan0", "-o", operator]
    if options.params:
        words += ["-p", options.params]
    if os.path.exists(report):
        os.remove(report)
    began, used = time.monotonic(), processor_seconds()
    with open(log, "w") as out:
        status = subprocess.run(["prlimit", f"--cpu={options.limit}:", *pellucid(mode, *words)], stdout=out,
                                stderr=subprocess.STDOUT).returncode
    wall, used = time.monotonic() - began, processor_seconds() - used
    text = re.sub(r"\x1b\[[0-9;]*m", "", open(log, errors="replace").read())
    total = re.search(r"(\d+)/(\d+) tests passed", text)
    found = " ".join(sorted(kinds(report))) or "no finding"
    ok = status in (0, 66) and total is not None and 0 < int(total[1]) == int(total[2])
    passed = f"{total[1]} of {total[2]} passed" if total else f"{text.count(': OK')} passed"
    if status == 128 + signal.SIGXCPU:
        passed += ", did not end in time"
    elif not total:
        passed += f", ended with status {status}"
    print(f"{'ok     ' if ok else 'FAILED '} {operator} ({mode}): {passed}, {wall:.1f} s, "
          f"{used:.1f} s of processors, {found}", flush=True)
    for failure in re.findall(r"^.*\bFAIL\b.*$", text, re.MULTILINE)[:10]:
        print("        " + failure.strip())
    return ok


modes = options.modes.split(",")
results = [run(operator, mode) for operator in options.operators or operators() for mode in modes]
print(f"{sum(results)} of {len(results)} ok")
sys.exit(0 if results and all(results) else 1)
