import type { Paged } from "../state/use-paged.ts";
import { Button } from "./button.tsx";
import { t } from "../texts/texts.ts";

/** Nothing where one page holds all. */
export function Pager({ older, newer, label }: Paged & { readonly label: string }) {
  if (older === undefined && newer === undefined) return null;
  const nothing = (): void => {};
  return (
    <nav class="pager" aria-label={label}>
      <Button onPress={newer ?? nothing} disabled={newer === undefined}>
        {t("parts.newer")}
      </Button>
      <Button onPress={older ?? nothing} disabled={older === undefined}>
        {t("parts.older")}
      </Button>
    </nav>
  );
}
