/** A button that asks first, and shows beside the question what went wrong. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { useAction } from "../state/use-action.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";

interface Props {
  readonly text: string;
  readonly label?: string;
  readonly question: string;
  readonly act: () => Promise<unknown>;
  readonly children?: ComponentChildren;
}

export function Confirmed({ text, label, question, act, children }: Props) {
  const [isAsking, setAsking] = useState(false);
  const action = useAction(act);
  const confirm = async (): Promise<void> => {
    if (await action.run()) setAsking(false);
  };
  const close = (): void => {
    action.clear();
    setAsking(false);
  };
  return (
    <>
      <Button kind="danger" label={label} onPress={() => setAsking(true)}>
        {text}
      </Button>
      {isAsking && (
        <Dialog
          title={question}
          action={text}
          onConfirm={() => void confirm()}
          onClose={close}
          busy={action.isRunning}
          error={action.error}
        >
          {children}
        </Dialog>
      )}
    </>
  );
}
