#!/usr/bin/env python3
"""Names of attributes, patterns and entities are resolved by the loader (design/name.h, design/slots.h): app, process and oracle
compare them as pointers and look into items by slot. This is the one list of files that look something up by its text all the same,
how often, and why. A new look-up needs a place here.

Not counted: value_get(x, SLICE("...")), for the attributes of our own records in <table>.thorpe have fixed names.
SPDX-License-Identifier: Apache-2.0
"""
import pathlib
import re
import sys

SRC = pathlib.Path(__file__).resolve().parent.parent / 'src'
ROOMS = ('app', 'process', 'oracle')
BY_TEXT = re.compile(r'\b(value_get|row_find|row_put|row_has_text|row_take|entity_attribute|slots_find|design_named|design_is_key|'
                     r'design_is_table_key|design_access|design_entity|design_index|fields_get|fields_has|fields_drop)\('
                     r'(?![^()]*,\s*SLICE\(")')
COMMENT = re.compile(r'/\*.*?\*/', re.S)

KEY = 'a key is a map of one or two attributes'
STRANGER = 'an item of no entity, or of one not known yet, has no slots'
BODY = 'names arrive as text in a body'
OWN = 'records of our own in <table>.thorpe'
FIELDS = 'fields are what a request says: texts, a handful'
GIVEN = 'parameters as they were given, kept as a map'
STORED = 'an item as it is stored, looked into once: no row is laid out for that'
FINDING = 'a finding names its attribute as text; once per mending'

WITH_REASON = {
    'app/auth/caller_account.c': (1, STRANGER + ': the companion that guards a name'),
    'app/auth/caller_session.c': (2, 'the entity in a token; the attribute of credentials, which may be of no entity'),
    'app/auth/mail_notes.c': (1, OWN + ': the entity that a note names'),
    'app/db/beside.c': (2, OWN),
    'app/db/dyn_read.c': (3, 'a key of the table or an index from any item; the index that a request names'),
    'app/db/guess.c': (1, 'the attribute of joining is of no design'),
    'app/db/lag.c': (2, KEY),
    'app/entity/entity.c': (3, STRANGER + ': which entity it is of, and whether it has expired'),
    'app/entity/entity_companion.c': (1, STRANGER),
    'app/entity/entity_key.h': (1, KEY),
    'app/entity/renamed.c': (1, OWN),
    'app/entity/input.c': (4, BODY),
    'app/entity/input_structure.c': (1, 'members of a structure are not slots: a map is walked'),
    'app/entity/output.c': (1, STRANGER + ', and is shown'),
    'app/file/file_gone.c': (1, STORED + ': images of any entity'),
    'app/openapi/openapi_schema.c': (1, 'the name of a schema must not be an entity\'s'),
    'app/read/read_depends.c': (1, GIVEN),
    'app/read/read_live.c': (2, 'keys of images of any entity, in every index'),
    'app/read/read_live_show.c': (1, 'keys of images of any entity'),
    'app/read/read_query.c': (1, KEY + ' and is a place in a list'),
    'app/rest/app_call.c': (2, 'the names of `thorpe call` and of POST /call'),
    'app/write/deleting.c': (2, OWN + ': markers'),
    'app/write/deleting_plan.c': (1, OWN + ': markers'),
    'app/write/deleting_rows.c': (2, STORED),
    'app/write/renaming/renaming.c': (6, OWN + ': markers, and the marks of a rename, which are of no design'),
    'app/write/joined.c': (4, 'the attribute of joining is of no design'),
    'app/write/write_commit.c': (5, FIELDS + '; the attribute that a companion guards; names in a body'),
    'app/write/write_counts.c': (2, FIELDS + '; ' + STORED),
    'app/write/write_create.c': (2, 'names that the layout of the entity lacks'),
    'app/write/renaming/renaming_child.c': (5, OWN + ': the chain of a marker; a name of a reference; the marks of a rename, which are of no design'),
    'app/write/write_held.c': (3, FIELDS),
    'app/write/write_password.c': (7, BODY + '; credentials, which may be of no entity'),
    'app/write/write_join.c': (13, FIELDS + '; ' + STORED),
    'app/write/write_plan.c': (6, FIELDS + '; ' + STRANGER),
    'app/write/write_sequence.c': (3, FIELDS + '; once for each number taken'),
    'app/write/write_shown.c': (1, FIELDS),
    'app/write/write_update.c': (5, BODY + '; attributes that a processor removes' + '; the entry of a map that the address names'),
    'app/write/write_witness.c': (4, FIELDS + '; ' + STORED),
    'oracle/files.c': (1, OWN + ': the entity in the record of a file'),
    'oracle/compare.c': (4, 'two items of any kind, member by member; only for a finding'),
    'oracle/imply.c': (1, STRANGER),
    'oracle/judge.c': (2, 'the names of a stored item, to tell those that the design does not know'),
    'oracle/mend.c': (5, FINDING),
    'oracle/owner.c': (1, STRANGER),
    'process/checkpoint_table.c': (1, OWN),
    'process/effect/effect_put.c': (1, STORED),
    'process/send/send_bulk.c': (1, KEY),
}


def uses():
    """Path -> the lines with a look-up by text."""
    found = {}
    for room in ROOMS:
        for path in sorted((SRC / room).rglob('*.[ch]')):
            text = COMMENT.sub(lambda m: re.sub(r'[^\n]', ' ', m.group()), path.read_text())
            for number, line in enumerate(text.split('\n'), 1):
                if re.match(r'(static |struct |bool |void |const )', line):  # a declaration
                    continue
                for match in BY_TEXT.finditer(line):
                    found.setdefault(str(path.relative_to(SRC)), []).append((number, match.group(1)))
    return found


def main():
    found = uses()
    wrong = []
    for path in sorted(set(found) | set(WITH_REASON)):
        lines = found.get(path, [])
        allowed = WITH_REASON.get(path, (0, ''))[0]
        if len(lines) > allowed:
            places = ', '.join(f'{number} {name}()' for number, name in lines)
            wrong.append(f'src/{path}: {len(lines)} look-ups by text where {allowed} have a reason (lines {places}): use row_get(), '
                         'slots_attribute() or a pointer of the loader, or say why in scripts/check-names.py')
        elif not lines:
            wrong.append(f'src/{path} looks nothing up by text any more: take it out of scripts/check-names.py')
    print('\n'.join(wrong) if wrong else
          f'names: {sum(map(len, found.values()))} look-ups by text in {len(found)} files, each with a reason')
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
