/** What a delivery says: messages of those who may write, and nothing but BAD_JSON for what can't be read. */
import type { Parsed } from "@svc/contract";
import * as fc from "fast-check";
import { isDeepStrictEqual } from "node:util";
import { type Check, demand } from "../../check.ts";
import { formBodyChecks, jsonBodyChecks } from "./body-checks.ts";
import { countOf, type Endpoint, endpointOf, idsOf, NOW_MS, rawOf, stateOf } from "./delivered.ts";
import { holds } from "./hostile-json.ts";
import { type Bench, withChannel } from "./open.ts";
import { demandSound, parsedOf } from "./parsed.ts";
import { demandNoSecret } from "./secrets.ts";

const LATER_MS = NOW_MS + 60_000;

export function parseChecks(bench: Bench): Check[] {
  const check = (name: string, run: (endpoint: Endpoint) => void): Check => ({
    name,
    run: () =>
      withChannel(bench, async (opened) => {
        const endpoint = endpointOf(opened, bench.subject);
        run(endpoint);
        demandNoSecret(opened.secrets, "the log", opened.log.text());
      }),
  });
  return [
    check("a message is parsed: its text, who wrote it, where, and when", (endpoint) => {
      const parsed = endpoint.parsed(endpoint.genuine());
      demand(countOf(parsed) === 1, `there are ${countOf(parsed)} messages in a delivery of one`);
      demandSound(endpoint, parsed);
      if (endpoint.deliveries.notifies === true) return demand(parsed.notices?.length === 1, "it is no notice");
      const [one] = parsed.inbound ?? [];
      demand(one?.text === "Hello", "its text is another");
      demand(one.sentAtMs === undefined || one.sentAtMs === NOW_MS, "it was written at another time");
    }),
    check(
      "a duplicate is known by its id: made anew and received later it has the same, another message has another",
      (endpoint) => {
        const first = idsOf(endpoint.parsed(endpoint.genuine()));
        const again = idsOf(endpoint.parsed(endpoint.genuine(), LATER_MS));
        demand(first.length > 0 && !first.includes(undefined), "it has no id, so every repetition is a new message");
        demand(isDeepStrictEqual(first, again), "the same message has another id when it is delivered again");
        const other = idsOf(endpoint.parsed(endpoint.genuine({ id: "message-2" })));
        demand(!isDeepStrictEqual(first, other), "two messages have one id");
      },
    ),
    check("what we wrote ourselves is no message", (endpoint) => {
      const { own, person } = endpoint.deliveries;
      if (own === undefined) return;
      for (const from of [person, endpoint.deliveries.stranger]) {
        const delivery = own({ id: "message-1", text: "Hello", from, atMs: NOW_MS }, endpoint.opened.section);
        demand(countOf(endpoint.parsed(delivery)) === 0, "our own message is answered");
      }
    }),
    check("who is not on the allowlist is not heard, and told to the log once", (endpoint) => {
      if (endpoint.deliveries.notifies === true) return;
      const { stranger } = endpoint.deliveries;
      for (const id of ["message-1", "message-2", "message-3"]) {
        demand(countOf(endpoint.parsed(endpoint.genuine({ id, from: stranger }))) === 0, "a stranger is heard");
      }
      const lines = endpoint.opened.log.lines.filter(({ message }) => message.includes("allowlist"));
      demand(lines.length === 1, `the log says ${lines.length} times that one sender is not on the allowlist`);
    }),
    ...(bench.subject.deliveries?.encoding === "form" ? formBodyChecks(check) : jsonBodyChecks(check)),
    check("a message of half a megabyte is one message, whole", (endpoint) => {
      if (endpoint.deliveries.notifies === true) return;
      const text = "Ünïcode 👋 ".repeat(40_000).trim();
      const parsed = endpoint.parsed(endpoint.genuine({ text }));
      demandSound(endpoint, parsed);
      demand(parsed.inbound?.[0]?.text === text, "a part of it is missing");
    }),
    check("a question by GET is answered, or refused with a code", (endpoint) => {
      if (!endpoint.ingress.methods.includes("GET")) return;
      const names = fc.constantFrom("hub.mode", "hub.challenge", "hub.verify_token", "token", "a", "");
      holds(
        fc.property(fc.dictionary(names, fc.string({ unit: "binary", maxLength: 60 })), (query) => {
          const asked = {
            method: "GET",
            query: `?${new URLSearchParams(query).toString()}`,
            headers: {},
            body: EMPTY,
          } as const;
          endpoint.verdict(asked);
          const parsed = parsedOf(endpoint, asked, ["BAD_REQUEST", "BAD_JSON"]);
          if (parsed !== undefined) demandSound(endpoint, parsed);
        }),
        100,
      );
    }),
    {
      name: "parse is pure: the same of the same each time, nothing asked, nothing kept, nothing changed",
      run: () => checkPurity(bench),
    },
  ];
}

const EMPTY = new Uint8Array();

/** Two instances, so that nothing learnt by one decides; and a request that says whether it was touched. */
async function checkPurity(bench: Bench): Promise<void> {
  const results: Parsed[] = [];
  for (const rounds of [1, 3]) {
    await withChannel(bench, async (opened) => {
      const endpoint = endpointOf(opened, bench.subject);
      const request = rawOf(endpoint.genuine(), NOW_MS);
      const [before, touched] = [stateOf(request), opened.touched()];
      for (let round = 0; round < rounds; round += 1) results.push(endpoint.ingress.parse(request));
      demand(stateOf(request) === before, "it changes the request");
      demand(opened.platform.requests.length === 0, "it asks the platform");
      demand(opened.touched() === touched, "it uses `state`, `secrets`, `receive` or the clock");
    });
  }
  const [first] = results;
  demand(
    results.every((one) => isDeepStrictEqual(one, first)),
    "it gives something else another time",
  );
}
