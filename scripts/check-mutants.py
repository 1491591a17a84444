#!/usr/bin/env python3
"""Checks that every mutant of tests/mutants still fits its source: the file contains the text exactly once.
Running them takes `make mutants`. SPDX-License-Identifier: Apache-2.0"""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / 'tests' / 'mutants'))
from run import read_list  # noqa: E402

count, bad = 0, 0
for path in sorted((ROOT / 'tests' / 'mutants').glob('*.mutants')):
    for mutant in read_list(path):
        source = ROOT / mutant['file']
        times = source.read_text().count('\n'.join(mutant['old'])) if source.exists() else 0
        count += 1
        if times != 1:
            bad += 1
            print(f"{path.relative_to(ROOT)}: '{mutant['name']}': its text stands {times} times in {mutant['file']}")
print(f'mutants: {count} fit their source' if not bad else f'mutants: {bad} of {count} do not fit their source')
sys.exit(1 if bad else 0)
