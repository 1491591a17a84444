/* The grammar of projections: path { , path }.
 * SPDX-License-Identifier: Apache-2.0 */
#include "expr/parser.h"

unsigned parse_projection(struct parser *p)
{
	unsigned root = parser_node(p, NODE_LIST);
	uint16_t first = 0, last = 0;

	for (;;) {
		unsigned n = parser_path(p);

		if (!n)
			return 0;
		parser_append(p, &first, &last, n);
		if (p->now.type != TOKEN_COMMA)
			break;
		parser_advance(p);
	}
	p->nodes[root].child = first;
	return root;
}
