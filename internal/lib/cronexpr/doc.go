// Package cronexpr reads the cron expressions of Workers and computes when they are due.
//
// An expression has five fields, in UTC: minute, hour, day of the month, month, day of
// the week. It differs from crontab(5): weekdays are 1 to 7 and begin with Sunday. Values,
// ranges, steps and lists are as usual; months and weekdays have names of three letters.
// The day fields know more:
//
//	L      the last day of the month; as weekday: Saturday
//	L-3    the third day before the last one
//	15W    the weekday (Monday to Friday) nearest to the 15th, in the same month
//	LW     the last weekday of the month; L-3W the one nearest to L-3
//	6L     the last Friday of the month
//	6#2    the second Friday of the month
//
// When both day fields are restricted, a day matches if one of them does.
package cronexpr
