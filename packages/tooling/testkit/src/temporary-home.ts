/** An empty folder of its own, gone when the test is over. */
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface TemporaryHome extends Disposable {
  /** Absolute, symbolic links resolved. Mode 0700. */
  readonly path: string;
  /** Also what `using` does. Idempotent. */
  remove(): void;
}

/** `using home = temporaryHome()`, or `remove()` in an `afterEach`. */
export function temporaryHome(): TemporaryHome {
  const path = realpathSync(mkdtempSync(join(tmpdir(), "svc-test-")));
  // Retries: a daemon that was just killed may still be writing.
  const remove = () => rmSync(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  return { path, remove, [Symbol.dispose]: remove };
}
