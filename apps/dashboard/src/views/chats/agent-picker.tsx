/** Who answers in a conversation, and with which model. Nothing where there is nothing to choose. */
import type { Conversation, Status } from "../../api/shapes.ts";
import { Problem } from "../../parts/problem.tsx";
import { useList } from "../../state/use-reader.ts";
import { useChange } from "./chat-menu.tsx";
import { t } from "../../texts/texts.ts";

const AS_CONFIGURED = "";

export function AgentPicker({ chat }: { readonly chat: Conversation }) {
  const { data } = useList<Status>("/api/status", []);
  const change = useChange(chat.id);
  const agents = data?.agents ?? [];
  const agent = agents.find(({ name }) => name === (chat.agent ?? "default")) ?? agents[0];
  const models = agent?.models ?? [];
  if (agents.length < 2 && models.length < 2) return null;
  return (
    <>
      {agents.length > 1 && (
        <Picker
          label={t("common.agent")}
          value={chat.agent}
          options={agents.map(({ name }) => name)}
          onPick={(name) => void change.run({ agent: name })}
        />
      )}
      {models.length > 1 && (
        <Picker
          label={t("common.model")}
          value={chat.model}
          options={models}
          onPick={(name) => void change.run({ model: name })}
        />
      )}
      <Problem error={change.error} />
    </>
  );
}

interface PickerProps {
  readonly label: string;
  readonly value: string | null;
  readonly options: readonly string[];
  readonly onPick: (value: string | null) => void;
}

const Picker = ({ label, value, options, onPick }: PickerProps) => (
  <select
    class="chip"
    aria-label={label}
    title={label}
    value={value ?? AS_CONFIGURED}
    onChange={({ currentTarget }) => onPick(currentTarget.value === AS_CONFIGURED ? null : currentTarget.value)}
  >
    <option value={AS_CONFIGURED}>{t("chats.as-configured", { label })}</option>
    {options.map((option) => (
      <option key={option} value={option}>
        {option}
      </option>
    ))}
  </select>
);
