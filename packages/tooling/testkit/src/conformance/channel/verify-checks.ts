/** Who posted a delivery: genuine ones get in, whatever else does not. */
import type { SampleDelivery } from "@svc/contract";
import * as fc from "fast-check";
import { type Check, demand } from "../../check.ts";
import { demandGenuine, demandRefused, type Endpoint, endpointOf, NOW_MS, rawOf, stateOf } from "./delivered.ts";
import { holds } from "./hostile-json.ts";
import { type Bench, withChannel } from "./open.ts";
import { demandNoSecret, withOtherSecrets, withoutSecrets } from "./secrets.ts";

export function verifyChecks(bench: Bench): Check[] {
  const { definition, subject } = bench;
  const check = (name: string, run: (endpoint: Endpoint) => void): Check => ({
    name,
    run: () => withChannel(bench, async (opened) => run(endpointOf(opened, subject))),
  });
  return [
    check("a genuine delivery is taken", (endpoint) => {
      demandGenuine(endpoint.verdict(endpoint.genuine()), "a genuine delivery");
      demand(endpoint.ingress.signed, "`signed` is false although every secret is set");
    }),
    check("a forged one is not: other secrets, nothing that proves anything, half of it", (endpoint) => {
      const { section } = endpoint.opened;
      const others = withOtherSecrets(definition, section);
      const { person, message } = endpoint.deliveries;
      const forged = message({ id: "message-1", text: "Hello", from: person, atMs: NOW_MS }, others);
      demandRefused(endpoint.verdict(forged), "a delivery signed with other secrets");
      const genuine = endpoint.genuine();
      demandRefused(endpoint.verdict({ ...genuine, query: "", headers: {} }), "a delivery without headers and query");
      for (const [what, part] of proofsOf(genuine, forged)) {
        for (const text of [part.slice(0, -1), `${part}0`, "", " ", part.slice(part.length / 2)]) {
          demandRefused(endpoint.verdict(replaced(genuine, what, text)), `a delivery with another ${what}`);
        }
      }
    }),
    check("one that was changed on the way is not, where a delivery proves its body", (endpoint) => {
      if (endpoint.deliveries.proves !== "body") return;
      const genuine = endpoint.genuine();
      demandGenuine(endpoint.verdict(genuine), "a genuine delivery");
      holds(
        fc.property(fc.nat(genuine.body.length - 1), fc.integer({ min: 1, max: 255 }), (at, bits) => {
          const body = Uint8Array.from(genuine.body);
          body[at] = (body[at] as number) ^ bits;
          if (endpoint.deliveries.encoding === "form" && fieldsIn(body) === fieldsIn(genuine.body)) return;
          demandRefused(endpoint.verdict({ ...genuine, body }), "a delivery with a changed byte");
        }),
        50,
      );
      const longer = Buffer.concat([genuine.body, Buffer.from(" ")]);
      demandRefused(endpoint.verdict({ ...genuine, body: longer }), "a delivery with a byte more");
      demandRefused(endpoint.verdict({ ...genuine, body: genuine.body.subarray(1) }), "a delivery with a byte less");
      demandRefused(endpoint.verdict({ ...genuine, body: new Uint8Array() }), "a delivery without a body");
    }),
    check("a stale one is refused, or told by its age, or by what may be used once", (endpoint) =>
      checkFreshness(endpoint),
    ),
    check("verify says the same each time, and changes nothing", (endpoint) => {
      const request = rawOf(endpoint.genuine(), NOW_MS);
      const before = stateOf(request);
      const first = JSON.stringify(endpoint.ingress.verify(request));
      demand(JSON.stringify(endpoint.ingress.verify(request)) === first, "the second time it says something else");
      demand(stateOf(request) === before, "it changes the request");
    }),
    check("verify refuses whatever a stranger sends, and tells the log nothing of it", (endpoint) => {
      const names = Object.keys(endpoint.genuine().headers).map((name) => name.toLowerCase());
      const odd = fc.constantFrom(
        "%%%%%%%%",
        "sha256=",
        "99999999999999999999",
        "Bearer  ",
        "-1.5e300",
        "\u0000".repeat(64),
      );
      const text = fc.oneof({ arbitrary: fc.string({ unit: "binary", minLength: 8, maxLength: 80 }), weight: 2 }, odd);
      const headers = fc.dictionary(fc.constantFrom("x-any", ...names), text);
      holds(
        fc.property(headers, text, fc.uint8Array({ maxLength: 200 }), (given, value, body) => {
          const query = `?${new URLSearchParams({ token: value, "hub.verify_token": value }).toString()}`;
          const verdict = endpoint.verdict({ method: "POST", query, headers: given, body });
          demandRefused(verdict, "random bytes");
          const quoted = [...Object.values(given), value].some((one) => verdict.why.includes(one));
          demand(verdict.why.trim() !== "" && !quoted, "`why` is blank, or quotes what was received");
          demandNoSecret(endpoint.opened.secrets, "`why`", verdict.why);
        }),
        100,
      );
    }),
    {
      name: "without its secrets it does not claim to know who posted",
      run: () =>
        withChannel(
          bench,
          async (opened) => {
            const { ingress, genuine, verdict } = endpointOf(opened, subject);
            const stripped = { ...genuine(), query: "", headers: {} };
            demand(!ingress.signed || !verdict(stripped).ok, "`signed` is true, and it takes what nobody signed");
          },
          (section) => withoutSecrets(definition, section),
        ),
    },
  ];
}

/** "+" and "%20", "%2B" and "%2b" are the same in a form. */
const fieldsIn = (body: Uint8Array): string =>
  JSON.stringify([...new URLSearchParams(Buffer.from(body).toString("utf8"))]);

function checkFreshness(endpoint: Endpoint): void {
  const { freshness } = endpoint.deliveries;
  if (freshness.by === "timestamp") {
    for (const sign of [-1, 1]) {
      const edge = endpoint.genuine({ atMs: NOW_MS + sign * freshness.windowMs });
      demandGenuine(endpoint.verdict(edge), "a delivery at the edge of the window");
      const beyond = endpoint.genuine({ atMs: NOW_MS + sign * (freshness.windowMs + 1000) });
      demandRefused(endpoint.verdict(beyond), `a delivery from too ${sign < 0 ? "long ago" : "far ahead"}`);
    }
  } else if (freshness.by === "age") {
    demand((endpoint.ingress.maxAgeMs ?? 0) > 0, "maxAgeMs is not set");
    const [message] = endpoint.parsed(endpoint.genuine()).inbound ?? [];
    demand(message?.sentAtMs === NOW_MS, "sentAtMs is not when the message was written, so nobody can tell its age");
  } else if (freshness.by === "once") {
    const [one, again, another] = [endpoint.genuine(), endpoint.genuine(), endpoint.genuine({ id: "message-2" })];
    const onceOf = (delivery: SampleDelivery): string | undefined => {
      const verdict = endpoint.verdict(delivery);
      demandGenuine(verdict, "a genuine delivery");
      return verdict.once;
    };
    demand((onceOf(one) ?? "") !== "", "`once` is not set");
    demand(onceOf(one) === onceOf(one), "`once` of one delivery is another each time");
    demand(onceOf(one) !== onceOf(another) && onceOf(again) !== onceOf(another), "two deliveries have the same `once`");
  }
}

/** Headers and query of a genuine delivery that are others in one that is forged: what proves who posted it. */
function proofsOf(genuine: SampleDelivery, forged: SampleDelivery): [string, string][] {
  const headers = Object.entries(genuine.headers).filter(([name, value]) => forged.headers[name] !== value);
  return genuine.query === forged.query ? headers : [...headers, ["query", genuine.query]];
}

const replaced = (delivery: SampleDelivery, what: string, text: string): SampleDelivery =>
  what === "query" ? { ...delivery, query: text } : { ...delivery, headers: { ...delivery.headers, [what]: text } };
