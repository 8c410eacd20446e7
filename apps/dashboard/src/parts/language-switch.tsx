import { useServices } from "../services.ts";
import { useAction } from "../state/use-action.ts";
import { LANGUAGES, type Language, OWN_NAMES, keepLanguage, language, showLanguage, t } from "../texts/texts.ts";
import { Choice } from "./choice.tsx";
import { Problem } from "./problem.tsx";

/** In force at once, and kept in this browser. */
export function LanguageSwitch() {
  const { push } = useServices();
  const choose = useAction(async (wanted: Language) => {
    await showLanguage(wanted);
    keepLanguage(window.localStorage, wanted);
    await push.speak();
  });
  return (
    <>
      <Choice
        label={t("parts.language")}
        options={LANGUAGES}
        value={language()}
        onChoose={(wanted) => void choose.run(wanted)}
        textOf={(one) => OWN_NAMES[one]}
      />
      <Problem error={choose.error} />
    </>
  );
}
