import { useServices } from "../services.ts";
import { useCell } from "../state/cell.ts";
import { Choice } from "./choice.tsx";
import { THEMES } from "./theme.ts";
import { t } from "../texts/texts.ts";

export function ThemeSwitch() {
  const { theme } = useServices();
  return (
    <Choice
      label={t("parts.colours")}
      options={THEMES}
      value={useCell(theme)}
      onChoose={(chosen) => theme.set(chosen)}
    />
  );
}
