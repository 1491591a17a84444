/* Whether values of one type are values of another.
 * SPDX-License-Identifier: Apache-2.0 */
#include "design/term/regex.h"
#include "evolve/diff_internal.h"

static bool is_text(enum attr_type t)
{
	return t == ATTR_STRING || t == ATTR_TEXT;
}

/* Only by the types themselves. */
static enum diff_fit base(enum attr_type was, enum attr_type is, const char **why)
{
	if (was == is || (is_text(was) && is_text(is)))
		return FIT_SAME;
	if ((was == ATTR_INTEGER || was == ATTR_EPOCH) && is == ATTR_NUMBER)
		return FIT_SAME;
	if ((was == ATTR_ENUM || was == ATTR_TIMESTAMP) && is_text(is))
		return FIT_SAME;
	if ((was == ATTR_NUMBER || was == ATTR_EPOCH) && is == ATTR_INTEGER) {
		*why = "a number with a fraction";
		return FIT_SOME;
	}
	if ((was == ATTR_NUMBER || was == ATTR_INTEGER) && is == ATTR_EPOCH) {
		*why = "a number that is no time";
		return FIT_SOME;
	}
	if (is_text(was) && is == ATTR_ENUM) {
		*why = "a text that is none of the words";
		return FIT_SOME;
	}
	if (is_text(was) && is == ATTR_TIMESTAMP) {
		*why = "a text that is no time";
		return FIT_SOME;
	}
	return FIT_OTHER;
}

static enum diff_fit worse(enum diff_fit a, enum diff_fit b)
{
	return a > b ? a : b;
}

static enum diff_fit some(const char **why, const char *what)
{
	*why = what;
	return FIT_SOME;
}

static enum diff_fit range(const struct attribute *was, const struct attribute *is, const char **why)
{
	bool number = attribute_is_number(is);
	enum diff_fit fit = FIT_SAME;

	if (is->has_min && (!was->has_min || was->min < is->min))
		fit = some(why, number ? "a smaller number" : "a shorter value");
	if (is->has_max && (!was->has_max || was->max > is->max))
		fit = some(why, number ? "a larger number" : "a longer value");
	return fit;
}

static enum diff_fit choices(const struct attribute *was, const struct attribute *is, const char **why)
{
	for (size_t i = 0; is->choice_count && i < was->choice_count; i++)
		if (!slice_among(is->choices, is->choice_count, was->choices[i]))
			return some(why, "a word that is no longer a choice");
	return FIT_SAME;
}

static enum diff_fit form(const struct attribute *was, const struct attribute *is, const char **why)
{
	static const char *const forms[] = { "", "a text that is no e-mail address", "a text that is no URL",
					     "a text that is no slug", "a text that is no name" };

	if (is->form != FORM_FREE && is->form != was->form)
		return some(why, forms[is->form]);
	if (is->matches && (!was->matches || !slice_equal(regex_text(was->matches), regex_text(is->matches))))
		return some(why, "a text that does not match the pattern");
	return FIT_SAME;
}

static enum diff_fit members(const struct structure *was, const struct structure *is, const char **why)
{
	enum diff_fit fit = FIT_SAME;

	EACH (struct attribute, m, is->members, is->member_count) {
		const struct attribute *old = structure_member(was, m->name);

		if (m->required && (!old || !old->required) && !m->default_)
			fit = worse(fit, some(why, "a structure that lacks a member"));
		if (old)
			fit = worse(fit, diff_type(old, m, why));
	}
	EACH (struct attribute, m, was->members, was->member_count)
		if (!is->open && !structure_member(is, m->name))
			fit = worse(fit, some(why, "a structure with a member that it no longer has"));
	if (was->open && !is->open)
		fit = worse(fit, some(why, "a structure with members of its own"));
	return fit;
}

static enum diff_fit file(const struct file_rule *was, const struct file_rule *is, const char **why)
{
	for (size_t i = 0; is->type_count && i < was->type_count; i++)
		if (!file_rule_allows(is, was->types[i]) && !slice_among(is->types, is->type_count, was->types[i]))
			return some(why, "a file of a type that is no longer allowed");
	if (is->type_count && !was->type_count)
		return some(why, "a file of a type that is no longer allowed");
	return is->most < was->most ? some(why, "a larger file") : FIT_SAME;
}

/* What is in a list, set or map. */
static enum diff_fit inside(const struct attribute *was, const struct attribute *is, const char **why)
{
	enum diff_fit fit = FIT_SAME;

	if (is->file && was->file)
		return file(was->file, is->file, why);
	if (is->members)
		fit = was->members ? members(was->members, is->members, why) : some(why, "a map of another structure");
	if (is->each)
		fit = worse(fit, was->each ? diff_type(was->each, is->each, why)
					   : some(why, "a value with elements of another type"));
	if (is->type == ATTR_SET || (is->type == ATTR_LIST && is->element != ATTR_MAP))
		fit = worse(fit, was->element == ATTR_MAP ? some(why, "a list with elements of another type")
							  : base(was->element, is->element, why));
	return fit;
}

enum diff_fit diff_type(const struct attribute *was, const struct attribute *is, const char **why)
{
	enum diff_fit fit = base(was->type, is->type, why);

	if (fit == FIT_OTHER || was->fine != is->fine || was->compressed != is->compressed)
		return FIT_OTHER;
	fit = worse(fit, range(was, is, why));
	fit = worse(fit, choices(was, is, why));
	fit = worse(fit, form(was, is, why));
	return worse(fit, inside(was, is, why));
}
