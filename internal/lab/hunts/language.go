package main

import (
	"errors"
	"strings"
)

// language is zh or en.
type language string

// languageOf takes HUNT_LANG, or what the locale says.
func languageOf(getenv func(string) string) language {
	for _, name := range []string{"HUNT_LANG", "LC_ALL", "LC_MESSAGES", "LANG"} {
		if value := getenv(name); value != "" {
			if strings.HasPrefix(value, "zh") {
				return "zh"
			}
			return "en"
		}
	}
	return "en"
}

// text is in both languages.
type text struct {
	ZH string `json:"zh"`
	EN string `json:"en"`
}

func (t text) in(l language) string {
	if l == "zh" {
		return t.ZH
	}
	return t.EN
}

func (t text) validate() error {
	if strings.TrimSpace(t.ZH) == "" || strings.TrimSpace(t.EN) == "" {
		return errors.New("give it in zh and en")
	}
	return nil
}
