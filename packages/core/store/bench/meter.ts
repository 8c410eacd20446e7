/** Rate, CPU and written pages of a series of commits. */
import { readFileSync } from "node:fs";

export interface Cost {
  readonly rate: number;
  readonly cpuUs: number;
  /** Of 4 KiB, in the log and in the database itself. */
  readonly pages: number;
  readonly p99Ms: number;
}

export class Meter {
  readonly #startMs = performance.now();
  readonly #cpu = process.cpuUsage();
  readonly #written = writtenBytes();
  readonly #commitsMs: number[] = [];
  #commitMs = this.#startMs;

  /** After each commit. */
  commit(): void {
    const nowMs = performance.now();
    this.#commitsMs.push(nowMs - this.#commitMs);
    this.#commitMs = nowMs;
  }

  cost(messages: number): Cost {
    const { user, system } = process.cpuUsage(this.#cpu);
    const commits = this.#commitsMs.toSorted((one, other) => one - other);
    return {
      rate: Math.round((messages * 1000) / (performance.now() - this.#startMs)),
      cpuUs: round((user + system) / messages),
      pages: round((writtenBytes() - this.#written) / 4096 / commits.length),
      p99Ms: round(commits[Math.floor(commits.length * 0.99)]!),
    };
  }
}

const round = (value: number): number => Math.round(value * 10) / 10;

/** Linux counts what a process gave to the disk. */
const writtenBytes = (): number => Number(/write_bytes: (\d+)/.exec(readFileSync("/proc/self/io", "utf8"))![1]);
