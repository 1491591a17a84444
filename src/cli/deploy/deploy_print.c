/* The plan and its cost, for people.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/deploy/deploy_print.h"
#include <stdio.h>

/* ---- the plan ---- */

static void print_table(const struct deploy_want *w, const struct deploy_plan *p, size_t table)
{
	size_t said = 0;

	printf("table %.*s%s\n", SLICE_ARG(w->tables[table].as->table), p->arns[table].n ? "" : ": there is none yet");
	for (size_t i = 0; i < p->remark_count; i++)
		if (p->remarks[i].table == table && p->remarks[i].weight == DEPLOY_OBSTACLE && ++said)
			printf("  ! %.*s\n", SLICE_ARG(p->remarks[i].words));
	for (size_t i = 0; i < p->step_count; i++) {
		const struct deploy_step *s = &p->steps[i];

		if (s->table != table)
			continue;
		said++;
		printf("  %c %.*s\n", s->act == DEPLOY_WAIT ? '.' : '+', SLICE_ARG(s->words));
		for (size_t n = 0; n < s->detail_count; n++)
			printf("      %.*s\n", SLICE_ARG(s->details[n]));
	}
	if (!said)
		printf("    as the design says\n");
	for (size_t i = 0; i < p->remark_count; i++)
		if (p->remarks[i].table == table && p->remarks[i].weight == DEPLOY_NOTE)
			printf("    note: %.*s\n", SLICE_ARG(p->remarks[i].words));
}

void deploy_print_plan(const struct deploy_want *w, const struct deploy_plan *p, const char *url, const char *region)
{
	printf("%.*s at %s (%s)\n\n", SLICE_ARG(w->design->name), url, region);
	for (size_t i = 0; i < DEPLOY_TABLES; i++)
		print_table(w, p, i);
	if (!p->step_count && !p->obstacle_count)
		printf("\nnothing to do\n");
}

/* ---- what it costs ---- */

static void print_row(const char *what, double dollars, const char *how)
{
	if (dollars >= 0.005 || dollars == 0)
		printf("  %-24s %10.2f   %s\n", what, dollars, how);
	else
		printf("  %-24s %10s   %s\n", what, "< 0.01", how);
}

static const char *traffic_words(const struct deploy_load *l)
{
	return l->reads >= 0 || l->writes >= 0 ? "at the traffic that was given"
					       : "at the traffic that the design declares";
}

void deploy_print_cost(const struct deploy_want *w, const struct deploy_cost *c, const struct deploy_load *l)
{
	char how[160];

	printf("\nEstimated cost in US dollars a month, %s\n", c->declared ? traffic_words(l)
									   : "without traffic: the design declares "
									     "none (--reads and --writes give some)");
	snprintf(how, sizeof(how),
		 w->design->provisioned ? "%.0f units a second are needed; what is provisioned is paid"
					: "%.0f units a second, indexes included",
		 c->write_units);
	print_row("writes", c->writes, how);
	snprintf(how, sizeof(how), "%.0f units a second", c->read_units);
	print_row("reads", c->reads, how);
	if (l->storage_gb >= 0)
		snprintf(how, sizeof(how), "%.1f GB; the traffic adds %.1f GB a month", c->storage_gb, c->growth_gb);
	else
		snprintf(how, sizeof(how), "%.1f GB in the first month's mean; grows by %.1f GB a month", c->storage_gb,
			 c->growth_gb);
	print_row("storage", c->storage, how);
	if (w->tables[0].recovery) {
		snprintf(how, sizeof(how), "%.1f GB, the table without its indexes", c->recovery_gb);
		print_row("point-in-time recovery", c->recovery, how);
	}
	if (c->shards > 0) {
		snprintf(how, sizeof(how), "%.0f shards, each read 2.5 times a second", c->shards);
		print_row("stream", c->stream, how);
		print_row("leases, each server", c->beside, "in the table beside it");
	}
	print_row("together", c->total, "");
	printf("  Prices: %s; other regions differ. Items of %.0f bytes, full pages,\n"
	       "  nothing cached, no free tier taken off; data transfer is not in it.\n",
	       deploy_prices, l->item_bytes > 0 ? l->item_bytes : 1024);
}
