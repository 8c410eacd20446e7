/** Requests that stop in the middle, connections that carry several, clients that leave. */
import * as fc from "fast-check";
import type { Attack, Step } from "../attack.ts";
import { bytesOf, type Header, without } from "./request.ts";
import { MAX_BODY_BYTES } from "./bodies.ts";
import type { Subject } from "./subject.ts";

export const partialAttacks = (subject: Subject): fc.Arbitrary<Attack> =>
  fc.oneof(
    { weight: 4, arbitrary: halves(subject) },
    { weight: 3, arbitrary: pipelines(subject) },
    { weight: 1, arbitrary: pieces(subject) },
    { weight: 1, arbitrary: garbageBehind(subject) },
  );

const halves = (subject: Subject): fc.Arbitrary<Attack> => {
  const large = (): Buffer => Buffer.alloc(MAX_BODY_BYTES, `{"message":"${subject.mark}`);
  return fc
    .tuple(fc.nat(2), fc.nat(1_000), fc.constantFrom("close", "reset", "fin" as const))
    .map(([size, share, ending]) => {
      const bytes = bytesOf(size === 0 ? { ...subject, body: large() } : subject);
      return { bytes: bytes.subarray(0, Math.floor((bytes.length * share) / 1_001)), ending };
    })
    .map(({ bytes, ending }) => ({
      kind: `half a request, then ${ending}`,
      steps: [{ write: bytes }],
      ending,
      requests: 1,
      mute: true,
      marks: [subject.mark],
    }));
};

/** Several requests in one write: each is answered by itself and in its turn. */
const pipelines = (subject: Subject): fc.Arbitrary<Attack> =>
  fc.integer({ min: 2, max: 12 }).map((count) => {
    const texts = Array.from({ length: count }, (_, index) => `${subject.mark}-${index}.`);
    const headers = without(subject.headers, "connection");
    const isMessage = subject.method === "POST" && subject.target === "/webhook";
    const request = (text: string, isLast: boolean): Buffer => {
      const more: Header[] = isLast ? [["Connection", "close"]] : [];
      const body = isMessage ? Buffer.from(JSON.stringify({ message: text })) : subject.body;
      return bytesOf({ ...subject, headers: [...headers, ...more], body });
    };
    return {
      kind: "pipeline",
      steps: [{ write: Buffer.concat(texts.map((text, index) => request(text, index === count - 1))) }],
      ending: "answer",
      requests: count,
      marks: [subject.mark],
      ...(isMessage && { inOrder: texts }),
    };
  });

/** In order, but cut where no reader expects it. */
const pieces = (subject: Subject): fc.Arbitrary<Attack> => {
  const bytes = bytesOf(subject);
  return fc.uniqueArray(fc.nat(bytes.length), { maxLength: 20 }).map((cuts) => {
    const places = [0, ...cuts.sort((a, b) => a - b), bytes.length];
    const steps = places.slice(1).map((to, index): Step => ({ write: bytes.subarray(places[index], to) }));
    return { kind: "in pieces", steps, ending: "answer", requests: 1, marks: [subject.mark] };
  });
};

const garbageBehind = (subject: Subject): fc.Arbitrary<Attack> =>
  fc.constantFrom("GARBAGE\r\n\r\n", "\0\0\0\0", "GET", "\x16\x03\x01\0", "x".repeat(40_000)).map((garbage) => ({
    kind: "garbage behind a request",
    steps: [{ write: Buffer.concat([bytesOf(subject), Buffer.from(garbage, "latin1")]) }],
    // One answer for the request, one for the bytes behind it.
    ending: "fin",
    requests: 2,
    marks: [subject.mark],
  }));
