/** What `svc doctor` finds, as data. */
import { lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { runBinary } from "@svc/testkit/binary/run-binary";

export interface Found {
  /** Only with --security. */
  readonly group?: string;
  readonly id: string;
  readonly level: string;
  readonly message: string;
  readonly fix: string | null;
}

export interface Report {
  readonly code: number | null;
  readonly ok: boolean;
  readonly findings: readonly Found[];
  readonly text: string;
}

export async function doctor(
  home: string,
  words: readonly string[] = [],
  env: Record<string, string> = {},
  binary?: string,
): Promise<Report> {
  const options = { home, env: { ...anyPort(home), ...env }, ...(binary !== undefined && { binary }) };
  const { code, stdout, stderr } = await runBinary(["doctor", "--json", ...words], options);
  const { ok, findings } = JSON.parse(stdout) as Pick<Report, "ok" | "findings">;
  return { code, ok, findings, text: stdout + stderr };
}

/** The default port may be taken by an svc that runs on this machine. */
function anyPort(home: string): Record<string, string> {
  const config = join(home, "config.toml");
  if (lstatSync(config, { throwIfNoEntry: false })?.isFile() && /^port = /m.test(readFileSync(config, "utf8")))
    return {};
  return { SVC__GATEWAY__PORT: "0" };
}

export const of = ({ findings }: Report, id: string): Found[] => findings.filter((finding) => finding.id === id);
export const levels = (report: Report, id: string): string[] => of(report, id).map(({ level }) => level);
