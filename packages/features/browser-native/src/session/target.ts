import { SvcError } from "@svc/contract";
import { noSuchElement, staleRef } from "@svc/kit/browser";
import type { Locator, Page } from "playwright-core";

/** What a target names: the element of a ref, or the only one that fits a CSS selector. */
export async function elementOf(page: Page, target: string, { signal }: { signal: AbortSignal }): Promise<Locator> {
  const [, ref] = /^@((?:f[0-9]+)?e[0-9]+)$/.exec(target.trim()) ?? [];
  if (ref !== undefined) {
    const element = page.locator(`aria-ref=${ref}`);
    // Asked first: else an old ref would be waited for as if it could come back.
    const found = await element.count().catch(() => 0);
    signal.throwIfAborted();
    if (found === 0) throw staleRef();
    return element;
  }
  if (target.startsWith("@") || target.includes(">>")) throw noSelector();
  const fitting = page.locator(`css=${target}`);
  const found = await fitting.count().catch(() => {
    throw noSelector();
  });
  if (found === 0) throw noSuchElement();
  if (found > 1) {
    throw new SvcError("BROWSER_FAILED", `The selector fits ${found} elements.`, {
      hint: "Use a ref, or say it closer.",
    });
  }
  return fitting;
}

const noSelector = (): SvcError =>
  new SvcError("BROWSER_FAILED", "The target is neither a ref such as @e3 nor a CSS selector.", {
    hint: "Take a snapshot, and use a ref of it.",
  });
