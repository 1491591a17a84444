#!/usr/bin/env python3
"""Checks that the layers and rooms of src/ hold. The READMEs are the rules: this script knows none of its own.

Each folder of src/ with C files has a README.md with a line

    May use: `base`, `value`, `app/db`

which names the folders whose headers it may include ("nothing" where there are none). Then:

  1. a file includes headers of its own folder and of the folders its README names, and of no others;
  2. the folders directly below src/ use one another without a cycle: that is what makes them layers;
  3. internal.h and *_internal.h stay in their folder, or come down from the folder above it;
  4. a README names no folder that nothing uses, so that the list stays the truth;
  5. no folder has more than MOST_FILES files of C.

usage: check-rooms.py           prints problems; exit status 1 if there are any
       check-rooms.py --write   updates the lines from the includes
SPDX-License-Identifier: Apache-2.0
"""
import os
import re
import sys

MOST_FILES = 40
SOURCE = re.compile(r'\.(c|h|cpp)$')
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)
LINE = re.compile(r'^May use: (.*?)\.?$', re.M)


def folders():
    """Folder below src/ -> names of its C files."""
    found = {}
    for path, _, names in os.walk('src'):
        sources = sorted(n for n in names if SOURCE.search(n))
        if sources:
            found[os.path.relpath(path, 'src')] = sources
    return found


def uses(folder, names):
    """Yields (file, header) for each header of src/ that the folder's files include; headers are relative to src/."""
    for name in names:
        with open(os.path.join('src', folder, name), encoding='utf-8') as f:
            text = f.read()
        for header in INCLUDE.findall(text):
            if os.path.exists(os.path.join('src', header)):
                yield os.path.join('src', folder, name), header


def readme(folder):
    return os.path.join('src', folder, 'README.md')


def allowed(folder, problems):
    """The folders that a README names, or None without such a line."""
    try:
        with open(readme(folder), encoding='utf-8') as f:
            line = LINE.search(f.read())
    except FileNotFoundError:
        problems.append(f'{readme(folder)} is missing: say what lives in src/{folder}, who calls it and what it may use')
        return None
    if not line:
        problems.append(f'{readme(folder)} has no line "May use: …"')
        return None
    return set(re.findall(r'`([^`]+)`', line.group(1)))


def stays_inside(folder, header):
    """Whether an internal header may be included in this folder."""
    home = os.path.dirname(header)
    return folder == home or folder.startswith(home + '/')


def check_folder(folder, names, may, problems):
    used = set()
    for path, header in uses(folder, names):
        home = os.path.dirname(header)
        base = os.path.basename(header)
        if home != folder:
            used.add(home)
            if home not in may:
                problems.append(f'{path} includes {header}, but {readme(folder)} does not name `{home}`')
        if (base == 'internal.h' or base.endswith('_internal.h')) and not stays_inside(folder, header):
            problems.append(f'{path} includes {header}, which is internal to src/{home}')
    for idle in sorted(may - used):
        problems.append(f'{readme(folder)} names `{idle}`, which nothing in src/{folder} uses')
    if len(names) > MOST_FILES:
        problems.append(f'src/{folder} has {len(names)} files of C, and {MOST_FILES} are the most: it needs rooms')


def top(folder):
    return folder.split('/')[0]


def cycle(graph):
    """A cycle of layers as a list, or None."""
    state = {}

    def visit(node, way):
        state[node] = 'open'
        for to in sorted(graph.get(node, ())):
            if state.get(to) == 'open':
                return way[way.index(to):] + [to] if to in way else [node, to]
            if to not in state:
                found = visit(to, way + [to])
                if found:
                    return found
        state[node] = 'done'
        return None

    for node in sorted(graph):
        if node not in state:
            found = visit(node, [node])
            if found:
                return found
    return None


def check():
    problems, graph = [], {}
    for folder, names in sorted(folders().items()):
        may = allowed(folder, problems)
        if may is None:
            continue
        check_folder(folder, names, may, problems)
        graph.setdefault(top(folder), set()).update(top(m) for m in may if top(m) != top(folder))
    way = cycle(graph)
    if way:
        problems.append('layers use each other in a circle: ' + ' -> '.join(way))
    for problem in problems:
        print(problem)
    count = len(folders())
    print(f'rooms: {count} folders, {len(problems)} problems' if problems else f'rooms: {count} folders, all hold')
    return 1 if problems else 0


def write():
    for folder, names in sorted(folders().items()):
        used = sorted({os.path.dirname(h) for _, h in uses(folder, names)} - {folder})
        line = 'May use: ' + (', '.join(f'`{u}`' for u in used) or 'nothing') + '.'
        path = readme(folder)
        text = open(path, encoding='utf-8').read() if os.path.exists(path) else f'# {folder}\n'
        text = LINE.sub(lambda _: line, text) if LINE.search(text) else text.rstrip('\n') + '\n\n' + line + '\n'
        with open(path, 'w', encoding='utf-8') as f:
            f.write(text)
    return 0


if __name__ == '__main__':
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
    if sys.argv[1:] not in ([], ['--write']):
        sys.exit(__doc__)
    sys.exit(write() if sys.argv[1:] else check())
