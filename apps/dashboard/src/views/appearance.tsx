/** Colours, language and shortcuts of this browser; on a phone also the sign-out. */
import { LanguageSwitch, ThemeSwitch } from "../components/browser-settings.tsx";
import { Button } from "../components/button.tsx";
import { Heading, Section } from "../components/layout.tsx";
import { Problem } from "../components/shown.tsx";
import { Name } from "../components/text.tsx";
import { useDevice, useServices } from "../services.ts";
import { useAction } from "../state/use-action.ts";
import { usePhone } from "../state/use-window.ts";
import { rich, t, wordOf } from "../texts/texts.ts";

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
