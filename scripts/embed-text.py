#!/usr/bin/env python3
"""Writes a text file as one C string: embed-text.py TEXT NAME OUT.c
SPDX-License-Identifier: Apache-2.0"""

import sys

source, name, output = sys.argv[1:]
with open(source, encoding="utf-8") as f:
    text = f.read()


def literal(line):
    """A line as a C string. No '?' follows another, so there is no trigraph."""
    line = line.replace("\\", "\\\\").replace('"', '\\"').replace("??", '?""?')
    return '\t"' + line.replace("\t", "\\t") + '\\n"'


with open(output, "w", encoding="utf-8") as f:
    f.write(f"extern const char {name}[];\nconst char {name}[] =\n")
    f.write("\n".join(literal(line) for line in text.splitlines()) + ";\n")
