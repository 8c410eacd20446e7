import type { Paged } from "../state/use-paged.ts";
import { Button } from "./button.tsx";

/** Nothing where one page holds all. */
export function Pager({ older, newer, what }: Paged & { readonly what: string }) {
  if (older === undefined && newer === undefined) return null;
  const nothing = (): void => {};
  return (
    <nav class="pager" aria-label={`Pages of ${what}`}>
      <Button onPress={newer ?? nothing} disabled={newer === undefined}>
        Newer
      </Button>
      <Button onPress={older ?? nothing} disabled={older === undefined}>
        Older
      </Button>
    </nav>
  );
}
