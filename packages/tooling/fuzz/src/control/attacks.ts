/** Attacks on the control socket: only the owner can open it, but svc and daemon may differ in version. */
import * as fc from "fast-check";
import type { Attack } from "../attack.ts";
import { jsonTexts } from "../attacks/json.ts";
import { bytesOf, chunked, headOf, whole } from "../attacks/request.ts";
import { markArbitrary } from "../attacks/subject.ts";

/** They may be asked anything: what they do, they do to what does not exist. */
const HARMLESS =
  `ping status tools features answer chat tool sessions session-messages session-search session-update session-export session-cancel session-delete
  devices device-rename device-revoke doctor`.split(/\s+/);
/** They would really do it: they are only sent bodies that must be refused before. */
const EARNEST = "reload restart backup restore secrets-set secrets-encrypt secrets-rotate model-test pair".split(" ");
const UNKNOWN = [
  "",
  "nothing",
  "__proto__",
  "constructor",
  "toString",
  "../ping",
  "ping/",
  "%70ing",
  "PING",
  "ping?x=1",
  "*",
];

const MAX_BYTES = 65_536;

export const controlAttacks = (): fc.Arbitrary<Attack> =>
  markArbitrary.chain((mark) => {
    const of = (kind: string, name: string, body: Buffer, method = "POST"): Attack =>
      whole(
        kind,
        bytesOf({
          method,
          target: `/${name}`,
          headers: [
            ["Host", "localhost"],
            ["Connection", "close"],
          ],
          body,
        }),
        [mark],
      );
    const harmless = fc.constantFrom(...HARMLESS);
    const any = fc.constantFrom(...HARMLESS, ...EARNEST, ...UNKNOWN, mark, "x".repeat(10_000));
    return fc.oneof(
      {
        weight: 6,
        arbitrary: fc
          .tuple(harmless, jsonTexts(mark, MAX_BYTES))
          .map(([name, text]) => of("json", name, Buffer.from(text))),
      },
      { weight: 4, arbitrary: fc.tuple(harmless, fields(mark)).map(([name, body]) => of("fields", name, body)) },
      { weight: 4, arbitrary: fc.tuple(any, refused(mark)).map(([name, body]) => of("no object", name, body)) },
      {
        weight: 2,
        arbitrary: fc.constantFrom(...UNKNOWN, mark).map((name) => of("unknown name", name, Buffer.from("{}"))),
      },
      {
        weight: 1,
        arbitrary: fc
          .tuple(harmless, fc.constantFrom("GET", "PUT", "DELETE", "PATCH"))
          .map(([name, method]) => of("method", name, Buffer.from("{}"), method)),
      },
      {
        weight: 2,
        arbitrary: fc
          .tuple(any, fc.nat(1_000), fc.constantFrom("close", "reset", "fin" as const))
          .map(([name, share, ending]) => half(name, share, ending, mark)),
      },
      {
        weight: 1,
        arbitrary: fc
          .tuple(harmless, fc.uint8Array({ maxLength: 300 }))
          .map(([name, bytes]) => broken(name, Buffer.from(bytes), mark)),
      },
    );
  });

/** What the handlers read, with values of every kind. */
const fields = (mark: string): fc.Arbitrary<Buffer> =>
  fc
    .dictionary(
      fc.constantFrom(
        "id",
        "text",
        "session",
        "name",
        "input",
        "interactive",
        "scope",
        "agent",
        "limit",
        "before",
        "approved",
      ),
      fc.oneof(
        fc.jsonValue(),
        fc.string({ unit: "binary" }),
        fc.constant(mark),
        fc.constantFrom("", "default", -1, 1e308, true, null),
      ),
      { maxKeys: 6 },
    )
    .map((body) => Buffer.from(JSON.stringify(body)));

/** Never an object: no handler is to see it. */
const refused = (mark: string): fc.Arbitrary<Buffer> =>
  fc.oneof(
    fc
      .constantFrom(
        "[]",
        "null",
        "7",
        `"${mark}"`,
        "{",
        `{"a":}`,
        `{}{}`,
        mark,
        `[${"[".repeat(50_000)}`,
        '{"a":"\ud800',
      )
      .map((text) => Buffer.from(text)),
    fc.constantFrom("ff", "c0af", "fffe7b007d00", "efbbbf").map((hex) => Buffer.from(`${hex}7b`, "hex")),
  );

function half(name: string, share: number, ending: "close" | "reset" | "fin", mark: string): Attack {
  const bytes = bytesOf({
    method: "POST",
    target: `/${name}`,
    headers: [["Host", "localhost"]],
    body: Buffer.from(`["${mark}"]`),
  });
  const steps = [{ write: bytes.subarray(0, Math.floor((bytes.length * share) / 1_001)) }];
  return { kind: "half a request", steps, ending, requests: 1, mute: true, marks: [mark] };
}

function broken(name: string, garbage: Buffer, mark: string): Attack {
  const head = headOf({
    method: "POST",
    target: `/${name}`,
    headers: [
      ["Host", "localhost"],
      ["Transfer-Encoding", "chunked"],
    ],
  });
  const bytes = Buffer.concat([head, chunked(Buffer.from("{"), []).subarray(0, -5), Buffer.from("zz\r\n"), garbage]);
  return whole("broken chunks", bytes, [mark], { ending: "fin", mute: true });
}
