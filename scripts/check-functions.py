#!/usr/bin/env python3
"""Holds two rules of CONTRIBUTING.md over src/, in about a second:

  parameters  no function has more than six
  static      a function without `static` is used by another file, or is static

check-functions.py [FOLDER...]: all of src/, or some folders of it. Reads C as text, in the style of this repository: a function's
definition begins in the first column, and its body with a brace in the first column.
SPDX-License-Identifier: Apache-2.0
"""
import pathlib
import re
import sys

MOST_PARAMETERS = 6
ROOT = pathlib.Path(__file__).resolve().parent.parent
SRC = ROOT / 'src'

ENTRANCES = {'main'}  # not called from C

COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
DEFINITION = re.compile(r'^(?P<head>[A-Za-z_][^\n;{}=#]*?(?:\n[^\n;{}=#]*?)?)\b(?P<name>[a-z_]\w*)\((?P<arguments>[^;{}]*?)\)[^;{}()=]*\n\{', re.M)
WORD = re.compile(r'\b[A-Za-z_]\w*\b')


def without_comments(text):
    """The text with comments and literals blanked, lines kept."""
    return COMMENT.sub(lambda m: re.sub(r'[^\n]', ' ', m.group()), text)


def count(arguments):
    """How many parameters: commas that stand in no parentheses."""
    depth, n = 0, 1
    for c in arguments:
        depth += (c == '(') - (c == ')')
        n += c == ',' and depth == 0
    return 0 if arguments.strip() in ('', 'void') else n


def main():
    folders = sys.argv[1:] or sorted(p.name for p in SRC.iterdir() if p.is_dir())
    texts = {p: without_comments(p.read_text()) for p in sorted(SRC.rglob('*')) if p.suffix in ('.c', '.h', '.cpp')}
    outside = [p.read_text() for d in ('include', 'tests') for p in (ROOT / d).rglob('*') if p.suffix in ('.c', '.h', '.cpp')]
    users = {}  # word -> the files that use it; a declaration is no use
    for path, text in texts.items():
        for word in set(WORD.findall(text)):
            # In a header, only bodies of inline functions count as uses.
            if path.suffix != '.h' or re.search(r'^\t.*\b%s\(' % re.escape(word), text, re.M):
                users.setdefault(word, set()).add(path)
    for text in outside:
        for word in set(WORD.findall(text)):
            users.setdefault(word, set()).add('outside')
    # Names that macros compose (op_##name) cannot be found as words.
    pasted = {prefix for text in texts.values() for prefix in re.findall(r'\b(\w+_)##', text)}

    wrong = []
    for path, text in texts.items():
        relative = path.relative_to(SRC)
        if relative.parts[0] not in folders:
            continue
        for m in DEFINITION.finditer(text):
            line = text.count('\n', 0, m.start('name')) + 1
            name, head = m.group('name'), m.group('head')
            if count(m.group('arguments')) > MOST_PARAMETERS:
                wrong.append(f'src/{relative}:{line}: {name}() has {count(m.group("arguments"))} parameters, at most {MOST_PARAMETERS}')
            if path.suffix == '.c' and not re.search(r'\b(static|HOT)\b', head) and name not in ENTRANCES \
               and users.get(name, set()) <= {path} and not any(name.startswith(p) for p in pasted):
                wrong.append(f'src/{relative}:{line}: {name}() is used in this file only, and not static')
    for w in wrong:
        print(w)
    print(f'{len(wrong)} functions break the rules' if wrong else 'functions: no more than six parameters, static where they can be')
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
