/** What can be wrong with who posted a delivery, and with samples. One fake each. */
import type { RawRequest } from "@svc/contract";
import { type Broken, inIngress, inVerify, without } from "./spoil.ts";

const GENUINE = "a genuine delivery is taken";
const FORGED = "a forged one is not: other secrets, nothing that proves anything, half of it";
const CHANGED = "one that was changed on the way is not, where a delivery proves its body";
const SAME = "verify says the same each time, and changes nothing";
const STRANGER = "verify refuses whatever a stranger sends, and tells the log nothing of it";

export const BROKEN_PROOF: readonly Broken[] = [
  [
    "another path",
    "the manifest names exactly the paths that the channel takes deliveries on",
    inIngress(() => ({ path: "/other" })),
  ],
  ["nobody let in", GENUINE, inVerify(() => ({ ok: false, code: "BAD_SIGNATURE", why: "closed" }))],
  ["no claim to know who posted", GENUINE, inIngress(() => ({ signed: false }))],
  ["everybody let in", FORGED, inVerify(() => ({ ok: true }))],
  [
    "who says nothing let in",
    FORGED,
    inVerify((verdict, { headers }) => (headers["x-signature"] ? verdict : { ok: true })),
  ],
  [
    "a signature cut short let in",
    FORGED,
    inVerify((verdict, { headers }) => ((headers["x-signature"] ?? "").length === 63 ? { ok: true } : verdict)),
  ],
  [
    "a refusal that is an answer",
    FORGED,
    inVerify((verdict) => (verdict.ok ? verdict : { ...verdict, code: "BAD_JSON" })),
  ],
  [
    "a proof of no more than the first half",
    CHANGED,
    inIngress(({ verify }) => {
      const seen = new Map<string, RawRequest>();
      return {
        verify(request) {
          const half = Buffer.from(request.body).toString("latin1").slice(0, 20);
          if (verify(request).ok) seen.set(half, request);
          return verify(seen.get(half) ?? request);
        },
      };
    }),
  ],
  [
    "any age",
    "a stale one is refused, or told by its age, or by what may be used once",
    inIngress(({ verify }) => ({
      verify: (request) => verify({ ...request, receivedAtMs: Number(request.headers["x-time"] ?? 0) * 1000 }),
    })),
  ],
  ["a verdict of its own each time", SAME, inVerify((verdict) => ({ ...verdict, once: crypto.randomUUID() }) as never)],
  ["a changed request", SAME, inVerify((verdict, { body }) => (body.fill(0), verdict))],
  [
    "the header told to the log",
    STRANGER,
    inVerify((verdict, { headers }) => (verdict.ok ? verdict : { ...verdict, why: `${headers["x-any"]}` })),
  ],
  [
    "an error for a strange header",
    STRANGER,
    inVerify((verdict, { headers }) => (atob(headers["x-any"] ?? ""), verdict)),
  ],
  [
    "a claim without a secret",
    "without its secrets it does not claim to know who posted",
    inIngress(() => ({ signed: true })),
  ],
];

const SAMPLE = "sample makes a delivery that verify takes and that carries the text";

export const BROKEN_SAMPLES: readonly Broken[] = [
  ["no sample", SAMPLE, (parts) => ({ ...parts, ingress: without(parts.ingress, "sample") })],
  [
    "a sample without a signature",
    SAMPLE,
    inIngress(({ sample }) => ({ sample: (message) => ({ ...sample!(message), headers: {} }) })),
  ],
  [
    "a sample with another text",
    SAMPLE,
    inIngress(({ sample }) => ({ sample: (message) => sample!({ ...message, text: "Test" }) })),
  ],
  [
    "a sample from nobody",
    SAMPLE,
    inIngress(({ sample }) => ({ sample: (message) => sample!({ from: "nobody", ...message }) })),
  ],
  [
    "one sample for all",
    SAMPLE,
    inIngress(({ sample }) => ({ sample: (message) => sample!({ ...message, id: "sample" }) })),
  ],
  [
    "what passes with any secret",
    "a sample made with other secrets is refused",
    inVerify((verdict, { headers }) => (headers["x-signature"] ? { ok: true } : verdict)),
  ],
];
