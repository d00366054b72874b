import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

const time = (name) => integer(name, { mode: "timestamp" });

export const user = sqliteTable("user", {
  id: text("id").primaryKey(), name: text("name").notNull(), email: text("email").notNull(),
  emailVerified: integer("email_verified", { mode: "boolean" }).notNull(), image: text("image"), createdAt: time("created_at").notNull(), updatedAt: time("updated_at").notNull(),
});

export const session = sqliteTable("session", {
  id: text("id").primaryKey(), expiresAt: time("expires_at").notNull(), token: text("token").notNull(), createdAt: time("created_at").notNull(),
  updatedAt: time("updated_at").notNull(), ipAddress: text("ip_address"), userAgent: text("user_agent"), userId: text("user_id").notNull(),
});

export const account = sqliteTable("account", {
  id: text("id").primaryKey(), accountId: text("account_id").notNull(), providerId: text("provider_id").notNull(), userId: text("user_id").notNull(),
  accessToken: text("access_token"), refreshToken: text("refresh_token"), idToken: text("id_token"), accessTokenExpiresAt: time("access_token_expires_at"),
  refreshTokenExpiresAt: time("refresh_token_expires_at"), scope: text("scope"), password: text("password"), createdAt: time("created_at").notNull(), updatedAt: time("updated_at").notNull(),
});

export const verification = sqliteTable("verification", {
  id: text("id").primaryKey(), identifier: text("identifier").notNull(), value: text("value").notNull(), expiresAt: time("expires_at").notNull(),
  createdAt: time("created_at"), updatedAt: time("updated_at"),
});

export const note = sqliteTable("note", { id: integer("id").primaryKey({ autoIncrement: true }), userId: text("user_id").notNull(), text: text("text").notNull() });
