#!/usr/bin/env python3
"""Writes the console's built files as one C file: embed-console.py DIST OUT.c

Each file is stored compressed, with its type and an ETag. Without a build there is one page that says how to build it. The output
is only written when it has changed, so that nothing is compiled again for nothing.
SPDX-License-Identifier: Apache-2.0"""

import gzip
import hashlib
import os
import re
import sys

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".json": "application/json",
    ".webmanifest": "application/manifest+json",
    ".txt": "text/plain; charset=utf-8",
    ".woff2": "font/woff2",
}

NOT_BUILT = b"""<!doctype html>
<html lang="en"><meta charset="utf-8"><title>Thorpe</title>
<body style="font: 16px/1.5 system-ui, sans-serif; max-width: 40rem; margin: 4rem auto; padding: 0 1rem">
<h1>The console has not been built</h1>
<p>This server was compiled without it. <code>make build</code> builds both; by hand:</p>
<pre>cd console && npm ci && npm run build</pre>
<p>and compile the server again. Everything else works: the DynamoDB API on this address, REST under
<a href="/api">/api</a>, numbers under <a href="/metrics">/metrics</a>.</p>
"""


def built_files(dist):
    """Path below dist -> bytes; maps for debuggers stay out."""
    found = {}
    for folder, _, names in os.walk(dist):
        for name in names:
            path = os.path.relpath(os.path.join(folder, name), dist).replace(os.sep, "/")
            if not path.endswith(".map"):
                with open(os.path.join(folder, name), "rb") as f:
                    found[path] = f.read()
    return found


def is_immutable(path):
    """Vite puts a hash of the content into the names of assets: index-4f1c2a9b.js."""
    return path.startswith("assets/") and re.search(r"-[A-Za-z0-9_-]{8,}\.\w+$", path) is not None


def c_text(text):
    return '"' + re.sub(r'["\\?]', lambda m: "\\" + m.group(0), text) + '"'


def c_bytes(data):
    rows = (data[i:i + 32] for i in range(0, len(data), 32))
    return "\n".join("\t" + ",".join(map(str, row)) + "," for row in rows)


def source(files, is_built):
    out = ["/* Made by scripts/embed-console.py from console/dist. */", '#include "console/files_internal.h"', ""]
    rows = []
    for number, (path, data) in enumerate(sorted(files.items())):
        kind = TYPES.get(os.path.splitext(path)[1])
        if kind is None:
            sys.exit(f"embed-console.py: no Content-Type is known for {path}")
        packed = gzip.compress(data, 9, mtime=0)
        etag = hashlib.sha256(data).hexdigest()[:20]
        out += [f"static const unsigned char file_{number}[] = {{", c_bytes(packed), "};", ""]
        rows.append(f"\t{{ {c_text(path)}, {c_text(kind)}, {c_text(chr(34) + etag + chr(34))}, "
                    f"{'true' if is_immutable(path) else 'false'}, file_{number}, {len(packed)}, {len(data)} }},")
    out += ["const struct web_file console_files[] = {", *rows, "\t{ 0 },", "};",
            f"const bool console_is_built = {'true' if is_built else 'false'};", ""]
    return "\n".join(out)


def main():
    dist, target = sys.argv[1:]
    files = built_files(dist)
    is_built = "index.html" in files
    text = source(files if is_built else {"index.html": NOT_BUILT}, is_built)
    try:
        with open(target, encoding="ascii") as f:
            if f.read() == text:
                return
    except OSError:
        pass
    with open(target, "w", encoding="ascii") as f:
        f.write(text)


main()
