// `svc config check` said "no problems" of configs that the daemon then refused: model.name missing, a malformed proxy block.
import { afterAll, describe, expect, test } from "vitest";
import { makeFixture } from "./config-fixtures.ts";

const fixture = makeFixture();
afterAll(() => fixture.remove());

describe("rules over several keys", () => {
  test("are told with everything else, each with its line", async () => {
    const told = await fixture.lines(`[gateway]
host = "0.0.0.0"
trusted_proxies = ["10.0.0.0/8", "s3cret/99"]
[model]
provider = "openai"
[security.policy]
forbidden_paths = ["private", "~/.ssh"]
[security.net]
allow_private = ["127.0.0.1"]
[channels_config.webhook]
signing_secret = "whsec_no base64!"
secrte = 1
`);
    expect(told).toEqual([
      "config.toml:2  gateway.host: binding an address that other machines can reach needs gateway.allow_public_bind = true",
      "config.toml:3  gateway.trusted_proxies[1]: must be an IP address or a CIDR block",
      'config.toml:4  model.name: is required when model.provider is "openai"',
      'config.toml:4  model.api_key: is required when model.provider is "openai"',
      "config.toml:7  security.policy.forbidden_paths[1]: must be a plain path, absolute or relative to the workspace, without ~ and without patterns",
      'config.toml:9  security.net.allow_private[0]: must be "host:port"',
      "config.toml:11  channels_config.webhook.signing_secret: what follows whsec_ must be base64",
      'config.toml:12  channels_config.webhook.secrte: unknown key; did you mean "secret"? (allowed: secret, signing_secret, agent, url, retries)',
    ]);
    expect(told.join()).not.toContain("s3cret");
  });

  test.each([
    ["[model]\nprovider = 'openai'\nname = 'm'\napi_key = ' '", "model.api_key"],
    ["[model]\nprovider = 'anthropic'\nname = ' '\napi_key = 'k'", "model.name"],
    ["[model]\nprovider = 'openai-compatible'\nname = 'm'", "model.base_url"],
    ["[model]\nprovider = 'openai'\nname = 'm'\napi_key = 'k\u00e9y'", "model.api_key"],
    ["[gateway]\nrequire_pairing = false\nallow_public_bind = true\nhost = '::'", "gateway.require_pairing"],
    ["[gateway]\nhost = ''", "gateway.host"],
    ["[gateway]\nhost = '[::]'", "gateway.host"],
    ["[gateway]\nhost = '[2001:db8::1]'", "gateway.host"],
    ["[gateway]\nhost = '[localhost]'", "gateway.host"],
    ["[gateway]\ntrusted_proxies = ['::1/129']", "gateway.trusted_proxies[0]"],
    ["[gateway]\ntrusted_proxies = ['fe80::1%eth0']", "gateway.trusted_proxies[0]"],
    ["[security.net]\nallow_private = ['x:0']", "security.net.allow_private[0]"],
  ])("%j is refused at %s", async (toml, key) => {
    expect((await fixture.problems(toml)).map((problem) => problem.key)).toEqual([key]);
  });

  test.each([
    "[model]\nprovider = 'openai-compatible'\nname = 'm'\nbase_url = 'http://127.0.0.1:1/v1'",
    "[gateway]\nhost = 'localhost'\nrequire_pairing = false",
    "[gateway]\nhost = '127.9.9.9'",
    "[gateway]\nhost = '::1'",
    "[gateway]\nhost = '[::1]'\nrequire_pairing = false",
    "[gateway]\nhost = '0.0.0.0'\nallow_public_bind = true",
    "[gateway]\ntrusted_proxies = ['10.1.2.3', '::1', 'fc00::/7']",
    "[channels_config.webhook]\nsigning_secret = 'whsec_c2VjcmV0'",
    "[channels_config.webhook]\nsigning_secret = 'plain text'",
    "[security.net]\nallow_private = ['[::1]:8080', 'nas.local:80']",
    "[security.policy]\nforbidden_paths = ['/etc', 'a/b']",
  ])("%j is right", async (toml) => expect(await fixture.lines(toml)).toEqual([]));

  test("a public bind keeps its own code, and a variable is blamed where it set the value", async () => {
    expect(await fixture.problems("", { SVC__GATEWAY__HOST: "0.0.0.0" })).toMatchObject([
      { code: "PUBLIC_BIND", env: "SVC__GATEWAY__HOST", key: "gateway.host" },
    ]);
  });
});
