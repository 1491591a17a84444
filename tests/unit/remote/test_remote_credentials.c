/* Each source of credentials against a stand-in of its service; the order of the sources; renewal.
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/timestamp.h"
#include "env.h"
#include "remote/credentials/keyring.h"
#include "remote/remote.h"
#include "standin.h"

#define SECRET  "SeCrEtSeCrEt"
#define HOUR_MS (3600 * 1000LL)

static struct arena arena;
static struct test_env env;
static struct standin *service;
static struct keyring *keyring;
static struct credentials *mine;
static char why[1300], home[64];
static bool local;

static _Atomic int64_t wall_ms;
static int64_t test_now(void *ctx)
{
	(void)ctx;
	return atomic_load(&wall_ms);
}
static const struct clock test_clock = { .now_ms = test_now };

/* ---- all services at one address ---- */

static struct {
	int status;        /* of the answers, unless 200 */
	const char *error; /* of STS */
	int delay_ms;
	int64_t lives_ms;    /* of the credentials */
	int answers;         /* how many gave credentials */
	char forms[4][4096]; /* what STS was asked, and by whom */
	char who[4][400];
	int form_count;
	char bearer[200], authorization[200], account[200];
	bool no_role, no_tokens;
	char oidc[1000];
	int64_t oidc_seconds;
} world;

static const char *expires(void)
{
	static char text[TIME_TEXT_MAX];

	time_format(atomic_load(&wall_ms) + world.lives_ms, text);
	return text;
}

static void answer_sts(const struct standin_request *q, struct standin_reply *r)
{
	int i = world.form_count++ % 4;

	snprintf(world.forms[i], sizeof(world.forms[i]), "%.4000s", q->body);
	snprintf(world.who[i], sizeof(world.who[i]), "%.399s", standin_header(q, "authorization"));
	if (world.error) {
		r->status = 403;
		snprintf(r->body, sizeof(r->body),
			 "<ErrorResponse><Error><Code>%s</Code><Message>no " SECRET "</Message></Error></ErrorResponse>",
			 world.error);
		return;
	}
	world.answers++;
	snprintf(r->body, sizeof(r->body),
		 "<AssumeRoleResponse xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\"><AssumeRoleResult><AssumedRoleUser><Arn>arn</Arn>"
		 "</AssumedRoleUser><Credentials><AccessKeyId>STS%d</AccessKeyId><SecretAccessKey>" SECRET
		 "</SecretAccessKey>"
		 "<SessionToken>tok/en+==</SessionToken><Expiration>%s</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>",
		 world.answers, expires());
}

static void answer_keys(struct standin_reply *r, const char *prefix)
{
	world.answers++;
	snprintf(r->body, sizeof(r->body),
		 "{\"Code\":\"Success\",\"AccessKeyId\":\"%s%d\",\"SecretAccessKey\":\"" SECRET
		 "\",\"Token\":\"tok\",\"Expiration\":\"%s\"}",
		 prefix, world.answers, expires());
}

static void answer_sso(const struct standin_request *q, struct standin_reply *r)
{
	snprintf(world.bearer, sizeof(world.bearer), "%.199s", standin_header(q, "x-amz-sso_bearer_token"));
	snprintf(world.account, sizeof(world.account), "%.199s", q->path);
	world.answers++;
	snprintf(r->body, sizeof(r->body),
		 "{\"roleCredentials\":{\"accessKeyId\":\"SSO\",\"secretAccessKey\":\"" SECRET
		 "\",\"sessionToken\":\"tok\",\"expiration\":%lld}}",
		 (long long)(atomic_load(&wall_ms) + world.lives_ms));
}

static void answer_instance(const struct standin_request *q, struct standin_reply *r)
{
	if (!strcmp(q->path, "/latest/api/token")) {
		if (strcmp(q->method, "PUT") != 0 || !*standin_header(q, "x-aws-ec2-metadata-token-ttl-seconds") ||
		    world.no_tokens)
			r->status = 403;
		snprintf(r->body, sizeof(r->body), "SESSION");
		return;
	}
	if (strcmp(standin_header(q, "x-aws-ec2-metadata-token"), "SESSION") != 0) {
		r->status = 401;
		return;
	}
	if (!strcmp(q->path, "/latest/meta-data/placement/region"))
		snprintf(r->body, sizeof(r->body), "eu-central-1");
	else if (!strcmp(q->path, "/latest/meta-data/iam/security-credentials/") && world.no_role)
		r->status = 404;
	else if (!strcmp(q->path, "/latest/meta-data/iam/security-credentials/"))
		snprintf(r->body, sizeof(r->body), "my-role");
	else if (!strcmp(q->path, "/latest/meta-data/iam/security-credentials/my-role"))
		answer_keys(r, "IMDS");
	else
		r->status = 404;
}

static void services(void *ctx, const struct standin_request *q, struct standin_reply *r)
{
	(void)ctx;
	r->delay_ms = world.delay_ms;
	if (world.status) {
		r->status = world.status;
		snprintf(r->body, sizeof(r->body), "no: " SECRET);
	} else if (strstr(q->body, "Action=AssumeRole")) {
		answer_sts(q, r);
	} else if (!strncmp(q->path, "/federation/credentials?", 24)) {
		answer_sso(q, r);
	} else if (!strcmp(q->path, "/token")) {
		snprintf(world.oidc, sizeof(world.oidc), "%.999s", q->body);
		snprintf(r->body, sizeof(r->body),
			 "{\"accessToken\":\"new-token\",\"expiresIn\":%lld,\"refreshToken\":\"new-refresh\"}",
			 (long long)world.oidc_seconds);
	} else if (!strncmp(q->path, "/creds", 6)) {
		snprintf(world.authorization, sizeof(world.authorization), "%.199s", standin_header(q, "authorization"));
		answer_keys(r, "ECS");
	} else if (!strncmp(q->path, "/latest/", 8)) {
		answer_instance(q, r);
	} else {
		r->status = 404;
	}
}

static int setup(void **state)
{
	(void)state;
	memset(&world, 0, sizeof(world));
	world.lives_ms = HOUR_MS;
	world.oidc_seconds = 3600;
	atomic_store(&wall_ms, 1763431200000LL);
	arena_init(&arena);
	local = false;
	snprintf(home, sizeof(home), "/tmp/thorpe-credentials-XXXXXX");
	assert_non_null(mkdtemp(home));
	service = standin_start(services, NULL);
	test_env_init(&env);
	test_env_set(&env, "HOME", home);
	test_env_set(&env, "AWS_ENDPOINT_URL_STS", standin_url(service));
	test_env_set(&env, "AWS_ENDPOINT_URL_SSO", standin_url(service));
	test_env_set(&env, "AWS_ENDPOINT_URL_SSO_OIDC", standin_url(service));
	test_env_set(&env, "AWS_EC2_METADATA_SERVICE_ENDPOINT", standin_url(service));
	return 0;
}

static int teardown(void **state)
{
	char command[128];

	(void)state;
	credentials_give(mine);
	mine = NULL;
	keyring_free(keyring);
	keyring = NULL;
	standin_stop(service);
	snprintf(command, sizeof(command), "rm -rf %s", home);
	assert_int_equal(system(command), 0);
	arena_release(&arena);
	return 0;
}

static const char *print(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static const char *print(const char *fmt, ...)
{
	struct slice s;
	va_list ap;

	va_start(ap, fmt);
	s = arena_vprintf(&arena, fmt, ap);
	va_end(ap);
	return arena_cstr(&arena, s);
}

static const char *write_file(const char *name, const char *content)
{
	const char *path = print("%s/%s", home, name);
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(content, f);
	fclose(f);
	return path;
}

static void config(const char *content)
{
	test_env_set(&env, "AWS_CONFIG_FILE", write_file("config", content));
}

static bool look(void)
{
	if (!keyring)
		keyring = keyring_new(&(struct keyring_options){
			.env = &env.env, .clock = &test_clock, .region = "eu-west-1", .local = local });
	assert_non_null(keyring);
	why[0] = '\0';
	return keyring_get(keyring, &mine, clock_monotonic_us() + 20000000, why, sizeof(why));
}

static void forget(void)
{
	credentials_give(mine);
	mine = NULL;
	keyring_free(keyring);
	keyring = NULL;
}

static void assert_found(const char *id, const char *token)
{
	if (!look())
		fail_msg("nothing found: %s", why);
	assert_string_equal(mine->id, id);
	assert_string_equal(mine->secret, SECRET);
	if (token)
		assert_string_equal(mine->token, token);
	else
		assert_null(mine->token);
	assert_null(strstr(mine->source, SECRET));
}

static void assert_trouble(const char *part)
{
	forget();
	assert_false(look());
	if (!strstr(why, part))
		fail_msg("expected '%s' in: %s", part, why);
	assert_null(strstr(why, SECRET));
	assert_null(mine);
}

static void no_instance(void)
{
	test_env_set(&env, "AWS_EC2_METADATA_DISABLED", "true");
}

/* ---- the environment and files ---- */

static void the_environment_comes_first(void **state)
{
	(void)state;
	config("[default]\naws_access_key_id = FILE\naws_secret_access_key = " SECRET "\n");
	test_env_set(&env, "AWS_ACCESS_KEY_ID", "ENV");
	assert_trouble("AWS_SECRET_ACCESS_KEY is not");
	test_env_set(&env, "AWS_SECRET_ACCESS_KEY", SECRET);
	forget();
	assert_found("ENV", NULL);
	test_env_set(&env, "AWS_SESSION_TOKEN", "tok");
	forget();
	assert_found("ENV", "tok");
	assert_int_equal(mine->expires_ms, 0);
}

static void a_line_break_in_a_secret_is_reported(void **state)
{
	(void)state;
	test_env_set(&env, "AWS_ACCESS_KEY_ID", "ENV");
	test_env_set(&env, "AWS_SECRET_ACCESS_KEY", SECRET "\n");
	assert_trouble("have a space or a line break in them");
	test_env_set(&env, "AWS_SECRET_ACCESS_KEY", SECRET);
	test_env_set(&env, "AWS_SESSION_TOKEN", "tok\r\nx-other: 1");
	assert_trouble("have a space or a line break in them");
}

static void files_and_programs_have_an_order(void **state)
{
	const char *program =
		write_file("program",
			   "#!/bin/sh\necho '{\"Version\":1,\"AccessKeyId\":\"PROGRAM\",\"SecretAccessKey\":\"" SECRET
			   "\"}'\n");

	(void)state;
	chmod(program, 0700);
	config(print("[default]\naws_access_key_id = CONFIG\naws_secret_access_key = " SECRET "\n"));
	assert_found("CONFIG", NULL);
	config(print("[default]\naws_access_key_id = CONFIG\naws_secret_access_key = " SECRET
		     "\ncredential_process = %s\n",
		     program));
	forget();
	assert_found("PROGRAM", NULL);
	test_env_set(&env, "AWS_SHARED_CREDENTIALS_FILE",
		     write_file("credentials", "[default]\naws_access_key_id = SHARED\naws_secret_access_key = " SECRET
					       "\naws_session_token = t\n"));
	forget();
	assert_found("SHARED", "t");
}

static void a_profile_that_is_not_there_is_named(void **state)
{
	(void)state;
	no_instance();
	test_env_set(&env, "AWS_PROFILE", "wrok");
	assert_trouble("the profile 'wrok' (AWS_PROFILE) is neither in");
	config("[profile wrok]\naws_access_key_id = X\n");
	assert_trouble("has aws_access_key_id and no aws_secret_access_key");
}

static void nothing_found_names_all_places(void **state)
{
	(void)state;
	world.no_tokens = true;
	assert_trouble("no credentials were found: looked at the environment (AWS_ACCESS_KEY_ID), a web identity");
	assert_non_null(strstr(why, "the profile 'default'"));
	assert_non_null(strstr(why, "a container"));
	assert_non_null(strstr(why, "the instance's role"));
	assert_non_null(strstr(why, "aws configure"));
}

static void this_machine_takes_made_up_ones(void **state)
{
	(void)state;
	local = true;
	config("[default]\naws_access_key_id = FILE\naws_secret_access_key = " SECRET "\n");
	assert_true(look());
	assert_string_equal(mine->id, "local");
	test_env_set(&env, "AWS_PROFILE", "default");
	forget();
	assert_found("FILE", NULL);
	assert_int_equal(standin_requests(service), 0);
}

/* ---- roles ---- */

static void a_role_is_assumed_with_its_source_profile(void **state)
{
	(void)state;
	config("[default]\nrole_arn = arn:aws:iam::1:role/a b\nsource_profile = base\nexternal_id = ex&t\nduration_seconds = 900\n"
	       "role_session_name = me\nregion = eu-north-1\n[profile base]\naws_access_key_id = BASE\naws_secret_access_key = " SECRET
	       "\n");
	assert_found("STS1", "tok/en+==");
	assert_string_equal(
		world.forms[0],
		"Action=AssumeRole&Version=2011-06-15&RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fa%20b&RoleSessionName=me"
		"&ExternalId=ex%26t&DurationSeconds=900");
	assert_non_null(strstr(world.who[0], "Credential=BASE/20251118/eu-north-1/sts/aws4_request"));
	assert_true(mine->expires_ms == atomic_load(&wall_ms) + HOUR_MS);
}

static void roles_are_assumed_one_after_the_other(void **state)
{
	(void)state;
	config("[default]\nrole_arn = arn:outer\nsource_profile = middle\n[profile middle]\nrole_arn = arn:inner\nsource_profile = base\n"
	       "[profile base]\naws_access_key_id = BASE\naws_secret_access_key = " SECRET "\n");
	assert_found("STS2", "tok/en+==");
	assert_non_null(strstr(world.forms[0], "RoleArn=arn%3Ainner"));
	assert_non_null(strstr(world.forms[1], "RoleArn=arn%3Aouter"));
	assert_non_null(strstr(world.who[1], "Credential=STS1/"));
	assert_non_null(strstr(world.who[1], "x-amz-security-token"));
}

static void a_role_s_source_may_be_a_service(void **state)
{
	(void)state;
	config("[default]\nrole_arn = arn:a\ncredential_source = Ec2InstanceMetadata\n");
	assert_found("STS2", "tok/en+==");
	assert_non_null(strstr(world.who[0], "Credential=IMDS1/"));
	config("[default]\nrole_arn = arn:a\ncredential_source = EcsContainer\n");
	test_env_set(&env, "AWS_CONTAINER_CREDENTIALS_FULL_URI", print("%s/creds", standin_url(service)));
	forget();
	assert_true(look());
	assert_non_null(strstr(world.who[1], "Credential=ECS"));
	config("[default]\nrole_arn = arn:a\ncredential_source = Environment\n");
	assert_trouble("takes its credentials from Environment, and there are none");
	config("[default]\nrole_arn = arn:a\ncredential_source = Elsewhere\n");
	assert_trouble("it is Environment, EcsContainer or Ec2InstanceMetadata");
}

static void roles_that_cannot_be_assumed_say_why(void **state)
{
	(void)state;
#define BASE "[profile base]\naws_access_key_id = BASE\naws_secret_access_key = " SECRET "\n"
	config("[default]\nrole_arn = arn:a\nsource_profile = base\nmfa_serial = arn:mfa\n" BASE);
	assert_trouble("asks for a code (mfa_serial)");
	config("[default]\nrole_arn = arn:a\nsource_profile = base\ncredential_source = Environment\n" BASE);
	assert_trouble("one of them is too many");
	config("[default]\nrole_arn = arn:a\n");
	assert_trouble("neither source_profile nor credential_source");
	config("[default]\nrole_arn = arn:a\nsource_profile = nobody\n");
	assert_trouble("there is no such profile");
	config("[default]\nrole_arn = arn:a\nsource_profile = default\n");
	assert_trouble("leads back to itself");
	config("[default]\nrole_arn = arn:a\nsource_profile = b\n[profile b]\nrole_arn = arn:b\nsource_profile = default\n");
	assert_trouble("leads back to itself");
	config("[default]\nrole_arn = arn:a\nsource_profile = b\n[profile b]\nregion = x\n");
	assert_trouble("has no credentials");
	config("[default]\nrole_arn = arn:a\nsource_profile = base\n" BASE);
	world.error = "AccessDenied";
	assert_trouble("the role arn:a cannot be assumed: STS says AccessDenied. Its trust policy");
	world.error = NULL;
	world.status = 500;
	assert_trouble("STS says 500");
	world.status = 0;
	test_env_set(&env, "AWS_ENDPOINT_URL_STS", "http://sts.example.com");
	assert_trouble("plain text");
}

/* ---- web identity ---- */

static void a_web_identity_becomes_a_role(void **state)
{
	(void)state;
	test_env_set(&env, "AWS_WEB_IDENTITY_TOKEN_FILE", write_file("token", "ey.to.ken\n"));
	assert_trouble("no role for it: set AWS_ROLE_ARN");
	test_env_set(&env, "AWS_ROLE_ARN", "arn:web");
	test_env_set(&env, "AWS_ROLE_SESSION_NAME", "pod");
	forget();
	assert_found("STS1", "tok/en+==");
	assert_string_equal(world.forms[0],
			    "Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleArn=arn%3Aweb&RoleSessionName=pod"
			    "&WebIdentityToken=ey.to.ken");
	assert_string_equal(world.who[0], ""); /* nobody signs */
	test_env_set(&env, "AWS_WEB_IDENTITY_TOKEN_FILE", "/nowhere/token");
	assert_trouble("cannot be read");
}

/* ---- SSO ---- */

static const char *cache_path(const char *name)
{
	uint8_t hash[EVP_MAX_MD_SIZE];
	unsigned n;
	struct buf b;

	mkdir(print("%s/.aws", home), 0700);
	mkdir(print("%s/.aws/sso", home), 0700);
	mkdir(print("%s/.aws/sso/cache", home), 0700);
	EVP_Digest(name, strlen(name), hash, &n, EVP_sha1(), NULL);
	buf_init(&b, &arena);
	buf_hex(&b, slice_make(hash, n));
	return print(".aws/sso/cache/%.*s.json", SLICE_ARG(buf_slice(&b)));
}

#define SESSION                                                                           \
	"[default]\nsso_session = corp\nsso_account_id = 123\nsso_role_name = Dev Role\n" \
	"[sso-session corp]\nsso_start_url = https://x\nsso_region = eu-west-1\n"

static void an_sso_token_becomes_a_role(void **state)
{
	(void)state;
	config(SESSION);
	assert_trouble("run `aws sso login --profile default`");
	write_file(cache_path("corp"), "{\"accessToken\":\"a-token\",\"expiresAt\":\"2025-11-18T09:00:00Z\"}");
	forget();
	assert_found("SSO", "tok");
	assert_string_equal(world.bearer, "a-token");
	assert_string_equal(world.account, "/federation/credentials?role_name=Dev%20Role&account_id=123");
	write_file(cache_path("corp"), "{\"accessToken\":\"" SECRET "\",\"expiresAt\":\"2025-11-17T09:00:00Z\"}");
	assert_trouble("has expired: run `aws sso login --profile default`");
	write_file(cache_path("corp"), "{\"accessToken\":\"" SECRET "\",\"expiresAt\":\"2025-11-18T09:00:00Z\"}");
	world.status = 401;
	assert_trouble("is not valid any more: run `aws sso login");
	world.status = 403;
	assert_trouble("may not use the role Dev Role in account 123");
	world.status = 0;
	write_file(cache_path("corp"),
		   "{\"accessToken\":\"" SECRET "\\r\\nx: y\",\"expiresAt\":\"2025-11-18T09:00:00Z\"}");
	assert_trouble("a header has a line break");
	write_file(cache_path("corp"), "{\"accessToken\":\"" SECRET);
	assert_trouble("cannot be read: run");
}

static void the_old_form_of_sso_works(void **state)
{
	(void)state;
	config("[default]\nsso_start_url = https://x\nsso_region = eu-west-1\nsso_account_id = 123\nsso_role_name = r\n");
	write_file(cache_path("https://x"), "{\"accessToken\":\"a-token\",\"expiresAt\":\"2025-11-18T09:00:00UTC\"}");
	assert_found("SSO", "tok");
}

static void an_sso_token_is_renewed_and_kept(void **state)
{
	const char *path = cache_path("corp"), *text;

	(void)state;
	config(SESSION);
	write_file(
		path,
		"{\"accessToken\":\"old\",\"expiresAt\":\"2025-11-18T01:00:00Z\",\"refreshToken\":\"refresh\",\"clientId\":\"c\","
		"\"clientSecret\":\"s\",\"startUrl\":\"https://x\",\"region\":\"eu-west-1\",\"registrationExpiresAt\":\"2026-01-01T00:00:00Z\"}");
	assert_found("SSO", "tok");
	assert_string_equal(
		world.oidc,
		"{\"grantType\":\"refresh_token\",\"clientId\":\"c\",\"clientSecret\":\"s\",\"refreshToken\":\"refresh\"}");
	assert_string_equal(world.bearer, "new-token");
	text = settings_read_file(&arena, print("%s/%s", home, path));
	assert_non_null(strstr(text, "\"accessToken\":\"new-token\""));
	assert_non_null(strstr(text, "\"refreshToken\":\"new-refresh\""));
	assert_non_null(strstr(text, "\"expiresAt\":\"2025-11-18T03:00:00Z\""));
	assert_non_null(strstr(text, "\"clientSecret\":\"s\""));
	forget(); /* now it is fresh */
	world.oidc[0] = '\0';
	assert_found("SSO", "tok");
	assert_string_equal(world.oidc, "");
}

/* ---- login ---- */

static const char *login_path(const char *session)
{
	uint8_t hash[EVP_MAX_MD_SIZE];
	unsigned n;
	struct buf b;

	mkdir(print("%s/login", home), 0700);
	test_env_set(&env, "AWS_LOGIN_CACHE_DIRECTORY", print("%s/login", home));
	EVP_Digest(session, strlen(session), hash, &n, EVP_sha256(), NULL);
	buf_init(&b, &arena);
	buf_hex(&b, slice_make(hash, n));
	return print("login/%.*s.json", SLICE_ARG(buf_slice(&b)));
}

#define LOGIN(ends)                                                                 \
	"{\"accessToken\":{\"accessKeyId\":\"LOGIN\",\"secretAccessKey\":\"" SECRET \
	"\",\"sessionToken\":\"tok\",\"accountId\":\"1\","                          \
	"\"expiresAt\":\"" ends "\"},\"refreshToken\":\"" SECRET "\"}"

static void a_login_is_used_while_it_is_valid(void **state)
{
	(void)state;
	config("[default]\nlogin_session = arn:aws:iam::1:user/me\n");
	assert_trouble("is not there: run `aws login --profile default`");
	write_file(login_path("arn:aws:iam::1:user/me"), LOGIN("2025-11-18T02:10:00Z"));
	forget();
	assert_found("LOGIN", "tok");
	write_file(login_path("arn:aws:iam::1:user/me"), LOGIN("2025-11-18T01:50:00Z"));
	assert_trouble("has expired: run `aws login --profile default`");
	write_file(login_path("arn:aws:iam::1:user/me"), "{\"accessToken\":{\"accessKeyId\":\"" SECRET "\"}}");
	assert_trouble("cannot be read");
}

/* ---- programs ---- */

static void program(const char *script, const char *arguments)
{
	const char *path = write_file("a program", script);

	chmod(path, 0700);
	config(print("[default]\ncredential_process = \"%s\" %s\n", path, arguments));
	forget();
}

static void a_program_prints_credentials(void **state)
{
	(void)state;
	no_instance();
	program("#!/bin/sh\n[ \"$1\" = 'one two' ] && [ \"$2\" = 'it'\"'\"'s' ] && [ $# = 2 ] || exit 9\n"
		"echo '{\"Version\":1,\"AccessKeyId\":\"P\",\"SecretAccessKey\":\"" SECRET
		"\",\"SessionToken\":\"t\",\"Expiration\":\"2025-11-18T03:00:00Z\"}'\n",
		"'one two' it\\'s");
	assert_found("P", "t");
	assert_true(mine->expires_ms == atomic_load(&wall_ms) + HOUR_MS);
}

static void a_failing_program_is_reported_without_its_output(void **state)
{
	(void)state;
	no_instance();
	program("#!/bin/sh\necho '" SECRET "'\nexit 3\n", "");
	assert_trouble("failed (exit status 3)");
	program("#!/bin/sh\necho '" SECRET "'\n", "");
	assert_trouble("printed no JSON object");
	program("#!/bin/sh\necho '{\"Version\":2,\"AccessKeyId\":\"" SECRET "\"}'\n", "");
	assert_trouble("no \"Version\": 1");
	program("#!/bin/sh\necho '{\"Version\":1,\"AccessKeyId\":\"" SECRET "\"}'\n", "");
	assert_trouble("printed no AccessKeyId and SecretAccessKey");
	program("#!/bin/sh\nhead -c 70000 /dev/zero\nsleep 100\n", "");
	assert_trouble("was ended");
	config("[default]\ncredential_process = /nowhere/at/all\n");
	assert_trouble("cannot be started");
	config("[default]\ncredential_process = \"/bin/sh\n");
	assert_trouble("a quote that is not closed");
}

/* ---- containers and instances ---- */

static void a_container_has_an_address_and_a_token(void **state)
{
	(void)state;
	test_env_set(&env, "AWS_CONTAINER_CREDENTIALS_FULL_URI", print("%s/creds?x=1", standin_url(service)));
	test_env_set(&env, "AWS_CONTAINER_AUTHORIZATION_TOKEN", "from-variable");
	assert_found("ECS1", "tok");
	assert_string_equal(world.authorization, "from-variable");
	test_env_set(&env, "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", write_file("token", "from-file\n"));
	forget();
	assert_found("ECS2", "tok");
	assert_string_equal(world.authorization, "from-file");
	world.status = 403;
	assert_trouble("its service says 403");
	test_env_set(&env, "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "/nowhere/token");
	assert_trouble("TOKEN_FILE cannot be read");
	test_env_set(&env, "AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://10.0.0.1/creds");
	assert_trouble("neither https nor on this machine");
	test_env_set(&env, "AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://127.0.0.1.example.com/creds");
	assert_trouble("neither https nor on this machine");
}

static void an_instance_has_a_role(void **state)
{
	(void)state;
	assert_found("IMDS1", "tok");
	assert_non_null(strstr(mine->source, "my-role"));
	world.no_role = true;
	assert_trouble("the instance, which has no role");
	no_instance();
	assert_trouble("AWS_EC2_METADATA_DISABLED is set");
}

static void the_old_metadata_service_is_not_asked(void **state)
{
	(void)state;
	world.no_tokens = true;
	assert_trouble("no credentials were found");
	assert_int_equal(world.answers, 0);
	assert_int_equal(standin_requests(service), 1);
}

static void the_region_may_be_the_instance_s(void **state)
{
	struct remote_options o = { .env = &env.env, .clock = &test_clock };
	struct remote *r = remote_open(&o, why, sizeof(why));

	(void)state;
	assert_non_null(r);
	assert_string_equal(remote_region(r), "eu-central-1");
	remote_close(r);
}

/* ---- renewal ---- */

static void credentials_are_renewed_before_they_end(void **state)
{
	(void)state;
	assert_found("IMDS1", "tok");
	atomic_fetch_add(&wall_ms, 44 * 60 * 1000);
	assert_found("IMDS1", "tok");
	atomic_fetch_add(&wall_ms, 2 * 60 * 1000); /* 14 minutes before the end */
	assert_found("IMDS2", "tok");
	assert_int_equal(keyring_renewals(keyring), 2);
}

static void the_old_ones_serve_when_renewal_fails(void **state)
{
	unsigned asked;

	(void)state;
	assert_found("IMDS1", "tok");
	atomic_fetch_add(&wall_ms, 50 * 60 * 1000);
	world.status = 500;
	assert_found("IMDS1", "tok");
	asked = standin_requests(service);
	assert_found("IMDS1", "tok"); /* not asked again at once */
	assert_int_equal(standin_requests(service), asked);
	atomic_fetch_add(&wall_ms, 11 * 60 * 1000); /* now they have ended */
	assert_false(look());
	assert_null(strstr(why, SECRET));
}

/* A failed renewal is not tried again for a minute, but only while the old ones serve. */
static void the_end_of_the_old_ones_is_not_slept_through(void **state)
{
	(void)state;
	assert_found("IMDS1", "tok");
	atomic_fetch_add(&wall_ms, HOUR_MS - 300); /* 300 ms before the end */
	world.status = 500;
	assert_found("IMDS1", "tok");
	world.status = 0;
	atomic_fetch_add(&wall_ms, 300);
	usleep(1100000); /* a failure is remembered for a second */
	assert_found("IMDS2", "tok");
}

static atomic_int got_old, got_new;

static void *get_one(void *ctx)
{
	struct credentials *c = NULL;
	char text[600];

	(void)ctx;
	if (keyring_get(keyring, &c, clock_monotonic_us() + 20000000, text, sizeof(text)))
		atomic_fetch_add(!strcmp(c->id, "IMDS1") ? &got_old : &got_new, 1);
	credentials_give(c);
	return NULL;
}

#define THREADS 16

static void get_with_threads(void)
{
	pthread_t threads[THREADS];

	atomic_store(&got_old, 0);
	atomic_store(&got_new, 0);
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, get_one, NULL), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static void one_thread_renews_and_the_others_go_on(void **state)
{
	(void)state;
	assert_found("IMDS1", "tok");
	atomic_fetch_add(&wall_ms, 50 * 60 * 1000);
	world.delay_ms = 300; /* three requests */
	get_with_threads();
	assert_int_equal(got_old + got_new, THREADS);
	assert_true(got_old > 0 && got_new > 0);
	assert_int_equal(world.answers, 2);
	world.delay_ms = 0;
	assert_found("IMDS2", "tok");
}

static void all_wait_for_one_when_there_are_none(void **state)
{
	(void)state;
	assert_found("IMDS1", "tok");
	atomic_fetch_add(&wall_ms, 2 * HOUR_MS);
	world.delay_ms = 300;
	get_with_threads();
	assert_int_equal(got_new, THREADS);
	assert_int_equal(world.answers, 2);
}

static void holders_keep_what_they_have(void **state)
{
	struct credentials *old = NULL;

	(void)state;
	assert_found("IMDS1", "tok");
	assert_true(keyring_get(keyring, &old, clock_monotonic_us() + 1000000, why, sizeof(why)));
	atomic_fetch_add(&wall_ms, 50 * 60 * 1000);
	assert_found("IMDS2", "tok");
	assert_string_equal(old->secret, SECRET);
	assert_false(old->generation == mine->generation);
	credentials_give(old);
}

static void spoilt_ones_are_not_used_again(void **state)
{
	(void)state;
	assert_found("IMDS1", "tok");
	assert_false(keyring_spoil(keyring, mine)); /* they are new */
	atomic_fetch_add(&wall_ms, 60000);
	assert_true(keyring_spoil(keyring, mine));
	assert_found("IMDS2", "tok");
}

static void already_expired_credentials_are_reported(void **state)
{
	(void)state;
	world.lives_ms = -60000;
	assert_trouble("have expired: renew them there");
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(the_environment_comes_first),
		T(a_line_break_in_a_secret_is_reported),
		T(files_and_programs_have_an_order),
		T(a_profile_that_is_not_there_is_named),
		T(nothing_found_names_all_places),
		T(this_machine_takes_made_up_ones),
		T(a_role_is_assumed_with_its_source_profile),
		T(roles_are_assumed_one_after_the_other),
		T(a_role_s_source_may_be_a_service),
		T(roles_that_cannot_be_assumed_say_why),
		T(a_web_identity_becomes_a_role),
		T(an_sso_token_becomes_a_role),
		T(the_old_form_of_sso_works),
		T(an_sso_token_is_renewed_and_kept),
		T(a_login_is_used_while_it_is_valid),
		T(a_program_prints_credentials),
		T(a_failing_program_is_reported_without_its_output),
		T(a_container_has_an_address_and_a_token),
		T(an_instance_has_a_role),
		T(the_old_metadata_service_is_not_asked),
		T(the_region_may_be_the_instance_s),
		T(credentials_are_renewed_before_they_end),
		T(the_old_ones_serve_when_renewal_fails),
		T(the_end_of_the_old_ones_is_not_slept_through),
		T(one_thread_renews_and_the_others_go_on),
		T(all_wait_for_one_when_there_are_none),
		T(holders_keep_what_they_have),
		T(spoilt_ones_are_not_used_again),
		T(already_expired_credentials_are_reported),
	};

	log_set_level(LOG_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
