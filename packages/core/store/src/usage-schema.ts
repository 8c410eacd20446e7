/** Usage by channel. Part of the schema: once released it stays as it is, byte for byte. */
export const USAGE_BY_CHANNEL_STEP = `
  CREATE TABLE usage_by_channel (
    day TEXT NOT NULL,
    agent TEXT NOT NULL,
    model TEXT NOT NULL,
    -- Empty: not the answer to a channel's message, or from before this was counted.
    channel TEXT NOT NULL,
    turns INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cost_usd REAL NOT NULL,
    estimated_usd REAL NOT NULL,
    unknown_cost_turns INTEGER NOT NULL,
    PRIMARY KEY (day, agent, model, channel)
  ) WITHOUT ROWID;
  INSERT INTO usage_by_channel
    SELECT day, agent, model, '', turns, input_tokens, output_tokens, cost_usd, estimated_usd, unknown_cost_turns
    FROM usage;
  DROP TABLE usage;
  ALTER TABLE usage_by_channel RENAME TO usage;
`;
