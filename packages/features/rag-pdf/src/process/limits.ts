/** What reading one PDF may take. */
export interface Limits {
  /** Of the file. */
  readonly fileBytes: number;
  /** Of the process, its program included. */
  readonly memoryBytes: number;
  readonly timeMs: number;
  /** Of all it tells, as JSON. */
  readonly outputBytes: number;
}

export const LIMITS: Limits = {
  fileBytes: 64 * 1024 * 1024,
  memoryBytes: 512 * 1024 * 1024,
  timeMs: 60_000,
  outputBytes: 256 * 1024 * 1024,
};
