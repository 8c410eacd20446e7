/** What may be kept or changed for the whole process. */

interface Exception {
  readonly file: RegExp;
  readonly names: readonly string[];
  readonly why: string;
}

const EXCEPTIONS: readonly Exception[] = [
  {
    file: /^apps\/dashboard\/src\//,
    names: ["document", "location", "services", "shown"],
    why: "The page is one person's, for as long as it is open.",
  },
  {
    file: /^apps\/svc\/src\/(?:main|cli\/prompts)\.ts$/,
    names: ["process"],
    why: "What the process ends with, and the size of its terminal.",
  },
  {
    file: /^packages\/core\/runtime\/src\/tracing\.ts$/,
    names: ["outside"],
    why: "It holds nothing: it marks code that runs outside any request or turn.",
  },
  {
    file: /^packages\/core\/kit\/src\/process\/process-tree\.ts$/,
    names: ["processScan"],
    why: "It looks at the machine's processes, which are nobody's alone, and keeps nothing of what it found.",
  },
  {
    file: /^packages\/features\/observability-otel\/src\/export\/without-environment\.ts$/,
    names: ["process"],
    why: "It is restored before other code runs.",
  },
  {
    file: /^packages\/features\/channel-federated\/src\/crypto-store\/crypto-store\.ts$/,
    names: ["globalThis"],
    why: "The encryption library looks for IndexedDB there alone; it is put back when the channel ends.",
  },
];

export const isExcepted = (file: string, name: string): boolean =>
  EXCEPTIONS.some((each) => each.file.test(file) && each.names.includes(name));
