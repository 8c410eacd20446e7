/** Settings of this browser: push messages, notifications, colours, language. */
import { useEffect } from "preact/hooks";
import { useServices } from "../services.ts";
import { useCell } from "../cell.ts";
import { THEMES } from "../state/theme.ts";
import { useAction } from "../state/use-action.ts";
import { LANGUAGES, type Language, OWN_NAMES, keepLanguage, language, rich, showLanguage, t } from "../texts/texts.ts";
import { Button } from "./button.tsx";
import { Choice } from "./fields.tsx";
import { Problem } from "./shown.tsx";
import { Ago } from "./values.tsx";

/** Push messages: on or off, with or without details, a test message, and errors. */
export function PushSwitch() {
  const { push } = useServices();
  const state = useCell(push.state);
  const read = useAction(() => push.read());
  const turn = useAction((on: boolean) => (on ? push.turnOn(false) : push.turnOff()));
  const detail = useAction((details: boolean) => push.turnOn(details));
  const test = useAction(() => push.test());
  useEffect(() => void read.run(), [push]);
  if (state.phase === "unsupported") {
    return <p class="hint">{t("notify.push-messages-need-a-browser")}</p>;
  }
  if (state.phase === "blocked") {
    return <p class="hint">{t("notify.this-browser-blocks-notifications-of")}</p>;
  }
  const isOn = state.phase === "on";
  return (
    <>
      <p class="hint">{t("notify.push-messages-arrive-while-no")}</p>
      <div class="buttons">
        <Button busy={turn.isRunning} onPress={() => void turn.run(!isOn)}>
          {isOn ? t("notify.turn-push-messages-off") : t("notify.send-push-messages-to-this")}
        </Button>
        {isOn && (
          <Button busy={test.isRunning} onPress={() => void test.run()}>
            {t("notify.send-a-test-message")}
          </Button>
        )}
      </div>
      {isOn && (
        <label class="choice">
          <input
            type="checkbox"
            checked={state.details}
            disabled={detail.isRunning}
            onChange={(event) => void detail.run(event.currentTarget.checked)}
          />{" "}
          {t("notify.show-what-is-asked-also")}
        </label>
      )}
      {isOn && state.last_sent_at !== null && (
        <p class="hint">{rich("notify.sent", { when: <Ago at={state.last_sent_at} /> })}</p>
      )}
      {isOn && state.last_error !== null && (
        <p class="problem" role="alert">
          {state.last_error.message} <Ago at={state.last_error.at} />
        </p>
      )}
      <Problem error={read.error ?? turn.error ?? detail.error ?? test.error} />
    </>
  );
}

export function NotificationSwitch() {
  const { notifier } = useServices();
  const state = useCell(notifier.state);
  const turn = useAction(() => (state === "on" ? notifier.turnOff() : notifier.turnOn()));
  if (state === "unsupported") return null;
  if (state === "blocked") {
    return <p class="hint">{t("notify.this-browser-blocks-notifications-of")}</p>;
  }
  return (
    <div class="buttons">
      <Button busy={turn.isRunning} onPress={() => void turn.run()}>
        {state === "on" ? t("notify.turn-notifications-off") : t("notify.notify-me-in-this-browser")}
      </Button>
      <Problem error={turn.error} />
    </div>
  );
}

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

/** Applies at once; stored in this browser. */
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
