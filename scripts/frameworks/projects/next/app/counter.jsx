"use client";
import { useState } from "react";

export default function Counter() {
  const [count, setCount] = useState(0);
  return <button id="count" onClick={() => setCount(count + 1)}>{count}</button>;
}
