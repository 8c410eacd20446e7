// gateway.public_url is printed in links and QR codes, given to platforms, and compared with the Host of requests. A value that
// is read differently in two of these places must not get past the config, and no message may repeat it.
import { afterAll, expect, test } from "vitest";
import { makeFixture } from "./config-fixtures.ts";

const fixture = makeFixture();
afterAll(() => fixture.remove());

const at = (url: string): Promise<readonly string[]> =>
  fixture.lines(`[gateway]\npublic_url = ${JSON.stringify(url)}\n`);

test.each([
  ["a script", "javascript:alert(1)//hostile.example"],
  ["data", "data:text/html,<script>alert(1)</script>"],
  ["a file", "file:///etc/passwd"],
  ["another scheme", "ftp://hostile.example"],
  ["no scheme", "hostile.example/path"],
  ["no scheme, two slashes", "//hostile.example"],
  ["no slashes", "https:hostile.example"],
  ["three slashes", "https:///hostile.example"],
  ["backslashes", "https:\\\\hostile.example\\x"],
  ["a user", "https://svc.example@hostile.example"],
  ["an empty user", "https://@hostile.example"],
  ["a user and a password", "https://user:hostile@svc.example"],
  ["a query", "https://hostile.example/?next="],
  ["a fragment", "https://hostile.example/#pair=000000"],
  ["a line break inside", "https://hostile.example/\r\nSet-Cookie: a=b"],
  ["a line break at the end", "https://hostile.example\r\n"],
  ["spaces around it", " https://hostile.example "],
  ["a tab", "https://host\tile.example"],
  ["letters that look like others", "https://hоstile.example"],
  ["a host of other letters", "https://hostile-bücher.example"],
  ["a sign that turns the text around", "https://hostile.example/\u202egnp"],
  ["an escaped host", "https://%68ostile.example"],
  ["an address in another spelling", "https://0x7f.1/hostile"],
  ["a port out of range", "https://hostile.example:65536"],
  ["port 0", "https://hostile.example:0"],
  ["a port that is none", "https://hostile.example:443x"],
  ["a path with quotes", "https://hostile.example/'\"><img src=x>"],
  ["a path with a command", "https://hostile.example/$(reboot)`id`"],
  ["a path that climbs", "https://hostile.example/a/../../b"],
  ["one that never ends", `https://hostile.example/${"x".repeat(5000)}`],
  ["nothing", ""],
])("%s is refused with its line, and not repeated", async (_what, url) => {
  const [problem, ...more] = await at(url);
  expect(more).toEqual([]);
  expect(problem).toMatch(/^config\.toml:2 {2}gateway\.public_url: must be an http:\/\/ or https:\/\/ URL/);
  expect(problem).not.toMatch(/hostile|[\r\n]/);
});

test.each([
  "https://svc.example",
  "https://svc.example/",
  "HTTPS://SVC.Example:8443/agent/home-1",
  "https://svc.example:443",
  "http://127.0.0.1:42617",
  "http://[::1]:42617",
  "https://xn--bcher-kva.example/a_b~c.d",
])("%s is taken", async (url) => {
  expect(await at(url)).toEqual([]);
});
