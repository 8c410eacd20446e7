/** What `svc doctor` finds, as data. */
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
  const options = { home, env, ...(binary !== undefined && { binary }) };
  const { code, stdout, stderr } = await runBinary(["doctor", "--json", ...words], options);
  const { ok, findings } = JSON.parse(stdout) as Pick<Report, "ok" | "findings">;
  return { code, ok, findings, text: stdout + stderr };
}

export const of = ({ findings }: Report, id: string): Found[] => findings.filter((finding) => finding.id === id);
export const levels = (report: Report, id: string): string[] => of(report, id).map(({ level }) => level);
