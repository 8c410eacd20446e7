/** How the page looks and speaks in this browser, and, where there is no rail, the way out of it. */
import { Button } from "../../parts/button.tsx";
import { Heading } from "../../parts/heading.tsx";
import { LanguageSwitch } from "../../parts/language-switch.tsx";
import { Name } from "../../parts/name.tsx";
import { Problem } from "../../parts/problem.tsx";
import { Section } from "../../parts/section.tsx";
import { ThemeSwitch } from "../../parts/theme-switch.tsx";
import { useServices } from "../../services.ts";
import { useDevice } from "../../session/use-device.ts";
import { useAction } from "../../state/use-action.ts";
import { usePhone } from "../../state/use-media.ts";
import { rich, t, wordOf } from "../../texts/texts.ts";

export function Appearance() {
  const { session } = useServices();
  const device = useDevice();
  const isPhone = usePhone();
  const signOut = useAction(() => session.signOut());
  return (
    <>
      <Heading title={t("appearance.appearance")} />
      <div class="appearance">
        <LanguageSwitch />
        <p class="hint">{t("appearance.kept-in-this-browser")}</p>
        <ThemeSwitch />
        <p class="hint">{t("appearance.colours-until-reload")}</p>
      </div>
      {isPhone && (
        <Section title={t("appearance.this-browser")}>
          <p>
            {rich("appearance.signed-in-as", {
              device: <Name>{device?.name ?? ""}</Name>,
              access: wordOf(device?.scope ?? ""),
            })}
          </p>
          <div class="buttons">
            <Button busy={signOut.isRunning} onPress={() => void signOut.run()}>
              {t("common.sign-out")}
            </Button>
          </div>
          <Problem error={signOut.error} />
        </Section>
      )}
    </>
  );
}
