/** `svc daemon --trace-start`: what a start does, from the process's begin until commands may run. */
import { createRequire, syncBuiltinESMExports } from "node:module";
import { columns } from "./output.ts";

export interface StartReport {
  /** From the begin of the process. */
  readonly total_ms: number;
  /** Of the processor, in all threads. */
  readonly cpu_ms: number;
  readonly listening: string;
  readonly phases: readonly StartPhase[];
  /** Scripts of the binary, in the order of their loading; `build.json` says what each holds. Empty where the sources run. */
  readonly chunks: readonly LoadedChunk[];
  readonly files: readonly OpenedFile[];
}

interface StartPhase {
  readonly name: string;
  /** Its end, from the begin of the process. */
  readonly at_ms: number;
  readonly ms: number;
  readonly cpu_ms: number;
}

/** As chunk-loader.ts of the composer records it. */
interface LoadedChunk {
  readonly name: string;
  readonly at_ms: number;
  /** Reading and compiling it. */
  readonly ms: number;
  /** V8 took the code that was made when the binary was built. */
  readonly precompiled: boolean;
}

interface OpenedFile {
  readonly path: string;
  readonly at_ms: number;
}

export interface StartTrace {
  /** What was done since the last phase is called so. */
  phase(name: string): void;
  /** Ends the recording. */
  report(url: string): StartReport;
  /** The report for a person. */
  text(report: StartReport): string;
}

/** Call it before the code that opens files is evaluated: that code takes the functions of node:fs as they are then. */
export function traceStart(): StartTrace {
  const files: OpenedFile[] = [];
  const stopRecording = recordFiles((path) => files.push({ path, at_ms: rounded(performance.now()) }));
  const phases: StartPhase[] = [];
  const add = (name: string, atMs: number, cpuMs: number): void => {
    const before = phases.reduce((sum, { cpu_ms }) => sum + cpu_ms, 0);
    const ms = rounded(atMs - (phases.at(-1)?.at_ms ?? 0));
    phases.push({ name, at_ms: rounded(atMs), ms, cpu_ms: rounded(cpuMs - before) });
  };
  const phase = (name: string): void => add(name, performance.now(), cpuMs());
  phase("runtime, command line");
  return {
    phase,
    report(listening) {
      stopRecording();
      const total = phases.at(-1)!.at_ms;
      const cpu = rounded(phases.reduce((sum, { cpu_ms }) => sum + cpu_ms, 0));
      const loaded = (globalThis as { [CHUNKS]?: readonly LoadedChunk[] })[CHUNKS] ?? [];
      const chunks = loaded.map(({ name, at_ms, ms, precompiled }) => ({
        name,
        at_ms: rounded(at_ms),
        ms: rounded(ms),
        precompiled,
      }));
      return { total_ms: total, cpu_ms: cpu, listening, phases, chunks, files };
    },
    text: reportText,
  };
}

const CHUNKS = Symbol.for("svc.chunks");

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

function recordFiles(opened: (path: string) => void): () => void {
  const fs = createRequire(import.meta.url)("node:fs") as FileFunctions & { promises: FileFunctions };
  const restores: (() => void)[] = [];
  let isOn = true;
  const wrap = (functions: FileFunctions, names: readonly string[]): void => {
    for (const name of names) {
      const own = functions[name]!;
      functions[name] = function (this: unknown, path: unknown, ...rest: unknown[]) {
        if (isOn && (typeof path === "string" || path instanceof URL)) opened(String(path));
        return own.call(this, path, ...rest);
      };
      restores.push(() => (functions[name] = own));
    }
  };
  wrap(fs, ["readFileSync", "openSync", "open", "readFile", "createReadStream", "readdirSync"]);
  wrap(fs.promises, ["readFile", "open", "readdir"]);
  // Sources that run unbundled import the names.
  syncBuiltinESMExports();
  return () => {
    isOn = false;
    for (const restore of restores) restore();
    syncBuiltinESMExports();
  };
}

type FileFunctions = Record<string, (...args: unknown[]) => unknown>;

function reportText({ total_ms, cpu_ms, phases, chunks, files }: StartReport): string {
  const precompiled = chunks.filter((chunk) => chunk.precompiled).length;
  const slowest = chunks.toSorted((a, b) => b.ms - a.ms).slice(0, SHOWN_CHUNKS);
  const own = files.filter(({ path }) => !/^\/(proc|sys|dev)\//.test(path));
  const ms = (value: number): string => `${value.toFixed(1)} ms`;
  return [
    `The start took ${ms(total_ms)}, ${ms(cpu_ms)} of the processor.`,
    "",
    columns([
      ["phase", "until", "took", "processor"],
      ...phases.map(({ name, at_ms, ms: took, cpu_ms: cpu }) => [name, ms(at_ms), ms(took), ms(cpu)]),
    ]),
    "",
    `${chunks.length} chunks loaded, ${precompiled} of them precompiled: ${ms(chunks.reduce((sum, chunk) => sum + chunk.ms, 0))}. The slowest:`,
    columns(slowest.map(({ name, ms: took, at_ms }) => [`  ${name}`, ms(took), `at ${ms(at_ms)}`])),
    "",
    `${files.length} files opened, ${files.length - own.length} of them the system's own:`,
    columns(own.map(({ path, at_ms }) => [`  ${ms(at_ms)}`, path])),
  ].join("\n");
}

const SHOWN_CHUNKS = 10;

const rounded = (ms: number): number => Math.round(ms * 100) / 100;
