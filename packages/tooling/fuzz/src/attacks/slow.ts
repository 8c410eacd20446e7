/** Clients that take their time: few bytes hold a connection, and many such clients hold all of them. */
import * as fc from "fast-check";
import type { Attack, Step } from "../attack.ts";
import { bytesOf, headOf } from "./request.ts";
import type { Subject } from "./subject.ts";

export const slowAttacks = (subject: Subject): fc.Arbitrary<Attack> =>
  fc.oneof(
    { weight: 2, arbitrary: silence(subject) },
    { weight: 2, arbitrary: drops(subject) },
    { weight: 1, arbitrary: fc.constant(subject).map(sluggish) },
    { weight: 1, arbitrary: fc.constant(subject).map(deaf) },
  );

/** Stops in the headers, or in the body, and stays. */
const silence = (subject: Subject): fc.Arbitrary<Attack> => {
  const head = headOf({ ...subject, headers: [...subject.headers, ["Content-Length", "100"]] });
  return fc.constantFrom("before", "headers", "body" as const).map((where) => ({
    kind: where === "before" ? "silence from the start" : `silence in the ${where}`,
    steps: where === "before" ? [] : [{ write: where === "headers" ? head.subarray(0, -3) : head }],
    ending: "silence",
    requests: 1,
    marks: [subject.mark],
    slow: where === "body" ? "body" : "headers",
    mute: true,
  }));
};

/** A byte now and then, without end: each of them is a sign of life. */
const drops = (subject: Subject): fc.Arbitrary<Attack> =>
  fc.constantFrom("headers", "body" as const).map((where) => {
    const head = headOf({ ...subject, headers: [...subject.headers, ["Content-Length", "100000"]] });
    const start = where === "headers" ? head.subarray(0, -2) : head;
    const drop = Buffer.from(where === "headers" ? "X-A: b\r\n" : " ");
    const steps: Step[] = [{ write: start }];
    for (let count = 0; count < 400; count += 1) steps.push({ pauseMs: 500 }, { write: drop });
    return {
      kind: `${where} in drops`,
      steps,
      ending: "silence",
      requests: 1,
      marks: [subject.mark],
      slow: where,
      mute: true,
    };
  });

/** Slow but complete: it is served like any request. */
function sluggish(subject: Subject): Attack {
  const bytes = bytesOf(subject);
  const size = Math.ceil(bytes.length / 30);
  const steps: Step[] = [];
  for (let at = 0; at < bytes.length; at += size)
    steps.push({ write: bytes.subarray(at, at + size) }, { pauseMs: 100 });
  return { kind: "slow but whole", steps, ending: "answer", requests: 1, marks: [subject.mark], slow: "headers" };
}

/** Asks and asks, and never reads an answer: they must not pile up in the server's memory. */
function deaf(subject: Subject): Attack {
  const bytes = bytesOf(subject);
  const count = Math.ceil(4_000_000 / bytes.length);
  return {
    kind: "never reads",
    steps: [{ write: Buffer.concat(Array.from({ length: count }, () => bytes)) }, { pauseMs: 1_000 }],
    ending: "close",
    requests: count,
    marks: [subject.mark],
    slow: "headers",
    deaf: true,
  };
}
