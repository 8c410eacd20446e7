/** A view whose code is loaded when it is first opened. */
import { type ComponentType, h } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Button } from "./button.tsx";
import { t } from "../texts/texts.ts";

export function late<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  return function Late(props: Props) {
    const [View, setView] = useState<ComponentType<Props>>();
    const [tries, setTries] = useState(0);
    const [hasFailed, setFailed] = useState(false);
    useEffect(() => {
      let isWanted = true;
      setFailed(false);
      load().then(
        (view) => isWanted && setView(() => view),
        () => isWanted && setFailed(true),
      );
      return () => {
        isWanted = false;
      };
    }, [tries]);
    if (View !== undefined) return h(View, props);
    if (!hasFailed) return <p class="reading">{t("common.loading")}</p>;
    return (
      <div class="problem" role="alert">
        <p>{t("parts.this-view-could-not-be")}</p>
        <Button onPress={() => setTries(tries + 1)}>{t("common.try-again")}</Button>
      </div>
    );
  };
}
