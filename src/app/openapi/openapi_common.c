/* Parts that the operations of all designs share: schemas, parameters, responses, headers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "app/openapi/openapi.h"
#include "app/read/read.h"

/* ---- schemas ---- */

static const struct {
	const char *name, *json;
} schemas[OAS_COMMONS] = {
	[OAS_PROBLEM] = { "Problem", "{'type':'object','description':'RFC 9457.',"
				     "'required':['type','title','status'],"
				     "'properties':{"
				     "'title':{'type':'string'},"
				     "'status':{'type':'integer'},"
				     "'detail':{'type':'string','description':'A sentence for people.'},"
				     "'attribute':{'type':'string','description':'The attribute whose value is taken.'},"
				     "'outcome':{'type':'string','enum':['unknown','done'],'description':"
				     "'Only in a 503 to a write. Left out: nothing was written.'},"
				     "'errors':{'type':'array','items':{'type':'object','properties':{"
				     "'attribute':{'type':'string'},'detail':{'type':'string'}}}},"
				     "'type':{'type':'string','enum':[" },
	[OAS_ANY_ITEM] = { "AnyItem",
			   "{'type':'object','description':'An item of one of several entities, or a companion.',"
			   "'properties':{'@type':{'type':'string','description':'The entity.'}},"
			   "'additionalProperties':true}" },
	[OAS_COUNT] = { "Count", "{'type':'object','required':['count'],'properties':{'count':{'type':'integer'}}}" },
	[OAS_COUNTS] = { "Counts", "{'type':'object','required':['count','counts'],'properties':{"
				   "'count':{'type':'integer','description':'The sum.'},"
				   "'mean':{'type':['number','null']},"
				   "'counts':{'type':'object','additionalProperties':{'type':'integer'}}}}" },
	[OAS_CALLER] = { "Caller", "{'type':'object','required':['subject','roles'],'properties':{"
				   "'subject':{'type':'string'},"
				   "'roles':{'type':'array','items':{'type':'string'}},"
				   "'claims':{'type':'object','additionalProperties':true,"
				   "'description':'Those that the design declares.'},"
				   "'operator':{'type':'boolean','description':'May do everything.'}}}" },
	[OAS_FILE] = { "StoredFile",
		       "{'type':'object','required':['file','type','size'],'properties':{"
		       "'file':{'type':'string','description':'Its id, from the upload.'},"
		       "'type':{'type':'string','description':'Its media type.'},"
		       "'size':{'type':'integer','description':'Bytes.'},"
		       "'name':{'type':'string','description':'Its name where it was uploaded.'},"
		       "'url':{'type':'string','format':'uri-reference','readOnly':true,"
		       "'description':'Where its bytes are, for an hour at most.'}},'additionalProperties':false}" },
	[OAS_FILE_ASK] = { "FileToUpload",
			   "{'type':'object','required':['type','size'],'properties':{"
			   "'type':{'type':'string','description':'Its media type, such as image/png.'},"
			   "'size':{'type':'integer','minimum':1,'description':'Bytes.'},"
			   "'name':{'type':'string','maxLength':200,'description':'Its name, without a path.'}},"
			   "'additionalProperties':false}" },
	[OAS_FILE_SLOT] = { "FileUpload",
			    "{'type':'object','required':['file','upload','expires'],'properties':{"
			    "'file':{'type':'string','description':'The id to write into the item after the upload.'},"
			    "'upload':{'type':'object','required':['method','url','headers'],"
			    "'description':'The request that sends the bytes.','properties':{"
			    "'method':{'type':'string','enum':['PUT']},"
			    "'url':{'type':'string','format':'uri-reference'},"
			    "'headers':{'type':'object','additionalProperties':{'type':'string'}}},"
			    "'additionalProperties':false},"
			    "'expires':{'type':'string','format':'date-time',"
			    "'description':'Until then the file is uploaded and written into its item.'}}}" },
};

struct slice oas_common_name(enum oas_common c)
{
	return slice_str(schemas[c].name);
}

void oas_common_schema(struct oas *o, enum oas_common c)
{
	oas_put(o, schemas[c].json);
	if (c != OAS_PROBLEM)
		return;
	for (enum problem_type t = PROBLEM_NONE + 1; t <= PROBLEM_BUSY; t++)
		json_string(o->b, arena_printf(o->a, "urn:thorpe:%s", problem_name(t)));
	oas_put(o, "]}}}");
}

/* ---- parameters ---- */

#define TEXT(x)  #x
#define VALUE(x) TEXT(x)

static const struct {
	const char *component, *json;
} parameters[OAS_PARAMETERS] = {
	[OAS_IF_MATCH] = { "IfMatch",
			   "{'name':'If-Match','in':'header','description':'The ETag of a GET, or the value of the "
			   "version attribute in quotes: 412 when the item has changed since.',"
			   "'schema':{'type':'string'}}" },
	[OAS_IF_NONE_MATCH] = { "IfNoneMatch", "{'name':'If-None-Match','in':'header','description':'An ETag: 304 when "
					       "nothing has changed.','schema':{'type':'string'}}" },
	[OAS_IDEMPOTENCY_KEY] = { "IdempotencyKey",
				  "{'name':'Idempotency-Key','in':'header','description':'A request "
				  "repeated with the same key within ten minutes gets the first answer "
				  "and is carried out once.','schema':{'type':'string','maxLength':255}}" },
	[OAS_LIMIT] = { "Limit", "{'name':'limit','in':'query','description':'The most items of a page.',"
				 "'schema':{'type':'integer','minimum':1,'maximum':" VALUE(READ_MOST_LIMIT) "}}" },
	[OAS_AFTER] = { "After", "{'name':'after','in':'query','description':'Where the page begins: `next` of the page "
				 "before it.','schema':{'type':'string'}}" },
};

void oas_parameters(struct oas *o, unsigned which)
{
	o->parameters |= which;
	for (unsigned p = 0; p < OAS_PARAMETERS; p++)
		if (which & OAS_BIT(p))
			oas_ref(o, "parameters", slice_str(parameters[p].component));
}

/* ---- responses ---- */

static const struct {
	const char *status, *component, *description;
} problems[OAS_PROBLEMS] = {
	[OAS_400] = { "400", "Malformed", "The request cannot be read" },
	[OAS_401] = { "401", "Unauthenticated", "The token is missing or not valid" },
	[OAS_403] = { "403", "Forbidden", "You may not do this" },
	[OAS_404] = { "404", "NotFound", "Not there, or not visible to you" },
	[OAS_409] = { "409", "Conflict", "It exists already, the value is taken, or its state does not allow this" },
	[OAS_412] = { "412", "Changed", "It has changed since you read it" },
	[OAS_422] = { "422", "Invalid", "Some values are not valid" },
	[OAS_429] = { "429", "TooManyAttempts", "Wait a moment" },
	[OAS_OTHER] = { "default", "Failed", "Any other failure" },
};

void oas_begin_responses(struct oas *o)
{
	json_member_open(o->b, "responses", '{');
}

void oas_end_responses(struct oas *o, unsigned which)
{
	which |= OAS_BIT(OAS_OTHER);
	o->problems |= which;
	for (unsigned i = 0; i < OAS_PROBLEMS; i++)
		if (which & OAS_BIT(i)) {
			json_name(o->b, problems[i].status);
			oas_ref(o, "responses", slice_str(problems[i].component));
		}
	oas_put(o, "}}");
}

static void put_response(struct oas *o, enum oas_problem p)
{
	json_member_open(o->b, problems[p].component, '{');
	json_member_word(o->b, "description", problems[p].description);
	if (p == OAS_429)
		oas_put(o, "'headers':{'Retry-After':{'description':'Seconds.','schema':{'type':'string'}}}");
	oas_put(o, "'content':{'application/problem+json':{'schema':");
	oas_ref_common(o, OAS_PROBLEM);
	oas_put(o, "}}}");
}

void oas_begin_content(struct oas *o, const char *status, const char *description, unsigned headers)
{
	json_member_open(o->b, status, '{');
	json_member_word(o->b, "description", description);
	if (headers) {
		json_member_open(o->b, "headers", '{');
		if (headers & OAS_ETAG)
			oas_put(o,
				"'ETag':{'description':'For If-None-Match and If-Match.','schema':{'type':'string'}}");
		if (headers & OAS_LOCATION)
			oas_put(o, "'Location':{'description':'The address of the item.','schema':{'type':'string'}}");
		if (headers & OAS_CACHE_CONTROL)
			oas_put(o, "'Cache-Control':{'description':'How long the answer may be cached.',"
				   "'schema':{'type':'string'}}");
		json_close(o->b, '}');
	}
	oas_put(o, "'content':{'application/json':{'schema':");
}

void oas_end_content(struct oas *o)
{
	oas_put(o, "}}}");
}

void oas_end_live_content(struct oas *o)
{
	oas_put(o, "},'text/event-stream':{'schema':{'type':'string',"
		   "'description':'Changes from now on, as server-sent events.'}}}}");
}

void oas_no_content(struct oas *o, const char *status, const char *description)
{
	json_member_open(o->b, status, '{');
	json_member_word(o->b, "description", description);
	json_close(o->b, '}');
}

void oas_begin_body(struct oas *o, bool required)
{
	oas_put(o, required ? "'requestBody':{'required':true,'content':{'application/json':{'schema':"
			    : "'requestBody':{'content':{'application/json':{'schema':");
}

/* ---- components ---- */

void oas_components(struct oas *o)
{
	oas_put(o, "'components':{'securitySchemes':{'bearer':{'type':'http','scheme':'bearer','bearerFormat':'JWT'}},"
		   "'parameters':{");
	for (unsigned p = 0; p < OAS_PARAMETERS; p++)
		if (o->parameters & OAS_BIT(p)) {
			json_name(o->b, parameters[p].component);
			oas_put(o, parameters[p].json);
		}
	oas_put(o, "},'responses':{");
	for (unsigned p = 0; p < OAS_PROBLEMS; p++)
		if (o->problems & OAS_BIT(p))
			put_response(o, p);
	json_close(o->b, '}');
	oas_schemas(o);
	json_close(o->b, '}');
}
