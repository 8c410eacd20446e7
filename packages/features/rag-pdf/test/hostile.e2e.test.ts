// A PDF can bring down the process that reads it, and nothing else: the service goes on, and says what it was.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fakeClock } from "@svc/testkit/fake-clock";
import { describe, expect, test } from "vitest";
import { BOMBS, onePage } from "./bombs.ts";
import { CHILD, client, codeOf, fixture, reading } from "./reading.ts";

const HELLO = onePage("BT /F 12 Tf 40 250 Td (hello) Tj ET");

/** It takes its memory slowly, and a processor for as long as it may. */
const ENDLESS = "a billion laughs of forms";
const endless = (): Uint8Array => BOMBS[ENDLESS]!();

/** Children of this process that read PDFs, with what Linux knows of them. */
function children(): { pid: number; environ: string }[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && name !== String(process.pid))
    .flatMap((name) => {
      try {
        const isOurs = readFileSync(`/proc/${name}/cmdline`, "latin1").includes(CHILD);
        const parent = Number(/^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${name}/status`, "latin1"))?.[1]);
        return isOurs && parent === process.pid
          ? [{ pid: Number(name), environ: readFileSync(`/proc/${name}/environ`, "latin1") }]
          : [];
      } catch {
        return [];
      }
    });
}

async function eventually<T>(look: () => T | undefined): Promise<T> {
  for (;;) {
    const found = look();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

describe("bombs", () => {
  // The clock stands still: what ends here ends by itself, or for the memory it takes.
  const { read } = reading();
  test.each(Object.keys(BOMBS).filter((name) => name !== ENDLESS))("%s", async (name) => {
    const code = await codeOf(read(BOMBS[name]!()));
    expect(["PDF_TOO_MUCH", "PDF_INVALID", "it succeeded"]).toContain(code);
    expect((await read(HELLO)).pages).toEqual([{ page: 1, text: "hello" }]);
  });

  test.each(["a stream of 10 GB", "a hundred million words", "a font of four billion widths"])(
    "%s is too much",
    async (name) => {
      await expect(read(BOMBS[name]!())).rejects.toMatchObject({
        code: "PDF_TOO_MUCH",
        message: expect.stringContaining("memory"),
      });
    },
  );

  test("one that goes on and on ends when its time is over", async () => {
    const clock = fakeClock();
    const { read: readInTime } = reading({ clock, limits: { timeMs: 60_000 } });
    const code = codeOf(readInTime(endless()));
    await eventually(() => (children().length > 0 ? true : undefined));
    expect(await Promise.race([code, clock.advance(59_000).then(() => "still reading")])).toBe("still reading");
    await clock.advance(1000);
    expect(await code).toBe("PDF_TOO_MUCH");
    await eventually(() => (children().length === 0 ? true : undefined));
  });

  test("the memory of the process is watched from outside too", async () => {
    const clock = fakeClock();
    const { read: readInLittle } = reading({
      clock,
      limits: { memoryBytes: 2_000_000, timeMs: Number.MAX_SAFE_INTEGER },
    });
    let code: string | undefined;
    void codeOf(readInLittle(endless())).then((told) => (code = told));
    await eventually(() => {
      void clock.advance(50);
      return code;
    });
    expect(code).toBe("PDF_TOO_MUCH");
  });

  test("a file beyond the limit, and output beyond it", async () => {
    expect(await codeOf(reading({ limits: { fileBytes: 300 } }).read(HELLO))).toBe("PDF_TOO_MUCH");
    expect(await codeOf(reading({ limits: { outputBytes: 20 } }).read(HELLO))).toBe("PDF_TOO_MUCH");
  });
});

describe("the process that reads", () => {
  test("has nothing of the environment, and ends when the call is aborted", async () => {
    const controller = new AbortController();
    const code = codeOf(reading().read(endless(), {}, { signal: controller.signal }));
    const [child] = await eventually(() => (children().length > 0 ? children() : undefined));
    expect(child!.environ).toBe("");
    controller.abort(new Error("called off"));
    expect(await code).toBe("no code: Error: called off");
    await eventually(() => (existsSync(`/proc/${child!.pid}`) ? undefined : true));
  });

  test("ends with whoever started it, though that was killed and it is busy", async () => {
    const parent = spawn(process.execPath, [`${import.meta.dirname}/busy-parent.ts`], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [told] = (await once(parent.stdout, "data")) as [Buffer];
    const pid = Number(told.toString());
    expect(existsSync(`/proc/${pid}`)).toBe(true);
    parent.kill("SIGKILL");
    await eventually(() => (existsSync(`/proc/${pid}`) ? undefined : true));
  });

  test.each([[[]], [["/etc/passwd"]]])("is of no use to anybody else: %j", (args) => {
    const run = () =>
      execFileSync(process.execPath, [CHILD, ...args], { input: '{"ranges":[[1,null]]}\n%PDF-', stdio: "pipe" });
    expect(run).toThrow(expect.objectContaining({ status: 64, stdout: Buffer.alloc(0) }));
  });

  test("one that answers something else, nothing, or can't be started", async () => {
    const child = (script: string) => [process.execPath, "-e", script] as const;
    const answered = (script: string) => codeOf(reading({ child: child(script) }).read(HELLO));
    expect(await answered('console.log("hello")')).toBe("TOOL_FAILED");
    expect(await answered('console.log(JSON.stringify({page:1,text:"x",more:1}))')).toBe("TOOL_FAILED");
    expect(await answered("process.exit(3)")).toBe("TOOL_FAILED");
    expect(await answered("process.abort()")).toBe("PDF_TOO_MUCH");
    expect(await codeOf(reading({ child: ["/nowhere/svc"] }).read(HELLO))).toBe("TOOL_FAILED");
  });

  test("one client reads one file at a time, and holds up no other", async () => {
    const controller = new AbortController();
    const { read } = reading();
    const of = (name: string) => ({ clientId: client(name), signal: controller.signal });
    const bombs = [1, 2, 3].map(() => codeOf(read(endless(), {}, of("hostile"))));
    await eventually(() => (children().length > 0 ? true : undefined));
    expect((await read(HELLO, {}, { clientId: client("other") })).pages).toHaveLength(1);
    expect(children()).toHaveLength(1);
    controller.abort(new Error("enough"));
    expect(await Promise.all(bombs)).toEqual(Array(3).fill("no code: Error: enough"));
  });
});

describe("mutated files", () => {
  const SEEDS = [
    "hand-metadata",
    "reportlab-form",
    "reportlab-cjk-not-embedded",
    "groff-gropdf",
    "qpdf-owner-password-rc4",
    "cairo-pages",
    "hand-type3",
  ];

  // Each in a process of its own takes a quarter of a second: a few a seed here, more with SVC_FUZZ_RUNS.
  test.each(SEEDS)("of %s: text or a code, and no process is left", async (name) => {
    const { read } = reading();
    const seen = new Set<string>();
    for (let run = 0; run < Number(process.env["SVC_FUZZ_RUNS"] ?? 6); run += 1) {
      seen.add(await codeOf(read(mutated(fixture(name), run))));
    }
    for (const code of seen)
      expect(["it succeeded", "PDF_INVALID", "PDF_ENCRYPTED", "PDF_TOO_MUCH", "TOOL_BAD_INPUT"]).toContain(code);
    await eventually(() => (children().length === 0 ? true : undefined));
  });
});

/** The same for the same number: bytes changed, digits made large, a part doubled, moved or gone. */
function mutated(bytes: Uint8Array, seed: number): Uint8Array {
  let state = (seed + 1) * 2_654_435_761;
  const below = (most: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * most);
  };
  const copy = Buffer.from(bytes);
  for (let change = 0; change < 1 + (seed % 20); change += 1) copy[5 + below(copy.length - 5)] = below(256);
  const [from, to] = [below(copy.length), below(copy.length)].sort((one, other) => one - other) as [number, number];
  const whole = copy.toString("latin1");
  const kinds = [
    whole,
    whole.slice(0, from) + whole.slice(to),
    whole.slice(0, to) + whole.slice(from),
    whole.replace(/\d+/g, (digits) => (below(40) === 0 ? `${below(2 ** 31)}` : digits)),
  ];
  const made = kinds[seed % kinds.length]!;
  return new Uint8Array(Buffer.from(made.startsWith("%PDF-") ? made : `%PDF-1.4\n${made}`, "latin1"));
}
